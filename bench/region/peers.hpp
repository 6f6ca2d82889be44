// SPDX-License-Identifier: Apache-2.0
// How programs open parallel regions today, each in one file of peers/. Which of them exist is decided by the build.
#pragma once

#include <memory>

#include "bench/crew/crew.hpp"

namespace tutti::bench {

std::unique_ptr<region_crew> make_pthread_barrier_pool(const crew_size& size);
std::unique_ptr<region_crew> make_mutex_condvar_pool(const crew_size& size);
std::unique_ptr<region_crew> make_handwritten_fork_join(const crew_size& size);
std::unique_ptr<region_crew> make_serial_loop(const crew_size& size);
std::unique_ptr<region_crew> make_new_threads(const crew_size& size);
std::unique_ptr<region_crew> make_tbb_arena(const crew_size& size);
std::unique_ptr<region_crew> make_eigen_pool(const crew_size& size);
std::unique_ptr<region_crew> make_forkunion_yielding(const crew_size& size);
std::unique_ptr<region_crew> make_forkunion_spinning(const crew_size& size);

}  // namespace tutti::bench
