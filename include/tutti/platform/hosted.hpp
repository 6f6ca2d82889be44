// SPDX-License-Identifier: Apache-2.0
// Headers that need an operating system include this one, so that a compiler for another system
// says so in one sentence.
// Hosted only: that is what it checks.
#pragma once

#include "tutti/platform/config.hpp"

#if !TUTTI_HOSTED
#error "This header of tutti needs Linux. The algorithms in tutti/barrier/ do not."
#include "tutti/platform/the_error_above"
#endif
