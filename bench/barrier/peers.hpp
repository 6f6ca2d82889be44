// SPDX-License-Identifier: Apache-2.0
// What programs use today, each in one file of peers/. Which of them exist is decided by the build.
#pragma once

#include <memory>

#include "bench/harness/subject.hpp"

namespace tutti::bench {

std::unique_ptr<subject> make_pthread_barrier(rank_t n);
std::unique_ptr<subject> make_std_barrier(rank_t n);
std::unique_ptr<subject> make_mutex_condvar(rank_t n);
std::unique_ptr<subject> make_boost_barrier(rank_t n);
std::unique_ptr<subject> make_absl_barrier(rank_t n);

}  // namespace tutti::bench
