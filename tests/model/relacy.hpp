// SPDX-License-Identifier: Apache-2.0
// Relacy without the macros by which it takes over `new`, `free`, `assert`, pthread_* and `$`.
#pragma once
// clang warns of the name `$` even where it is undefined.
#pragma GCC system_header

// clang-format off: Relacy's headers want this order.
#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/dyn_thread.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/var.hpp>
// clang-format on

#undef $
