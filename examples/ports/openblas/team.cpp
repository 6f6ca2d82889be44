// SPDX-License-Identifier: Apache-2.0
// Runs OpenBLAS's jobs on a team of tutti, through the callback that OpenBLAS has for other pools
// of threads (openblas_set_threads_callback_function). `run` loads both libraries.
#include "tutti/team/team.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

namespace {

using do_job = void (*)(int thread, void* job, int data);
using run_jobs = void (*)(int is_sync, do_job, int jobs, std::size_t job_bytes, void* first,
                          int data);

// OpenBLAS may be called by several threads of the program.
std::mutex mutex;
std::unique_ptr<tutti::team> threads;

// The jobs of a matrix product wait for each other by polling, so each needs a thread of its own.
// The call returns when all have ended, which is right whether or not OpenBLAS asks for it.
void on_team(int, do_job job, int jobs, std::size_t job_bytes, void* first, int data) {
  const std::lock_guard guard(mutex);
  const auto count = static_cast<tutti::rank_t>(jobs);
  if (threads == nullptr || threads->size() < count) threads = std::make_unique<tutti::team>(count);
  threads->run(count, [&](auto& me) {
    const auto rank = static_cast<std::size_t>(me.rank());
    job(static_cast<int>(rank), static_cast<char*>(first) + rank * job_bytes, data);
  });
}

}  // namespace

extern "C" void tutti_take_over_openblas(void (*set_callback)(run_jobs)) { set_callback(on_team); }
