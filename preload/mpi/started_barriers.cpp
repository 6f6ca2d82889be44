// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/started_barriers.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

#include "tutti/platform/native.hpp"

namespace tutti::preload {
namespace {

struct started {
  communicator* comm = nullptr;
  room* where = nullptr;
  std::uint32_t number = 0;
  rank_t next = 0;
  std::uint32_t looks = 0;
  bool is_over() noexcept { return where->is_over(number, next); }
  // The request, once MPI has made it; a copy of its handle, of 4 or 8 bytes.
  handle_space request{};
  bool has_request = false;
  bool is_complete = false;
  started* following = nullptr;
};

// The barriers of this process that are not over. MPI may ask from several threads.
std::mutex one;
started* first = nullptr;
std::atomic<int> unfinished{0};

void complete(started& barrier) noexcept {
  const library& mpi = *library::get();
  barrier.is_complete = true;
  mpi.grequest_complete(mpi.value(barrier.request));
}

// Open MPI calls this whenever it makes progress.
int complete_those_that_are_over() noexcept {
  // relaxed: only decides whether to look.
  if (unfinished.load(relaxed) == 0) return 0;
  const std::unique_lock lock(one, std::try_to_lock);
  if (!lock.owns_lock()) return 0;
  int completed = 0;
  for (started** at = &first; *at != nullptr;) {
    started& barrier = **at;
    if (!barrier.is_over()) {
      at = &barrier.following;
      continue;
    }
    *at = barrier.following;
    // relaxed: as above.
    unfinished.fetch_sub(1, relaxed);
    ++completed;
    complete(barrier);
  }
  return completed;
}

// MPICH calls this for a request that is waited for or tested.
int complete_if_over(void* state, void*) noexcept {
  auto& barrier = *static_cast<started*>(state);
  const std::lock_guard lock(one);
  if (!barrier.has_request || barrier.is_complete) return 0;
  if (barrier.is_over()) {
    complete(barrier);
    return 0;
  }
  // With more ranks than CPUs, MPICH would keep the CPU from the rank for which this one waits.
  constexpr std::uint32_t looks_before_yields = 64;
  if (++barrier.looks > looks_before_yields) native::yield();
  return 0;
}

// MPICH calls this in MPI_Waitall and its like, one request after the other, and expects all to be
// complete afterwards. Meanwhile nobody else makes progress for the program's messages.
int complete_all(int count, void** states, double, void*) noexcept {
  for (int i = 0; i < count; ++i) {
    auto& barrier = *static_cast<started*>(states[i]);
    for (;;) {
      complete_if_over(&barrier, nullptr);
      {
        const std::lock_guard lock(one);
        if (barrier.is_complete) break;
      }
      barrier.comm->make_progress();
    }
  }
  return 0;
}

int describe(void*, void* status) noexcept {
  const library& mpi = *library::get();
  mpi.status_set_elements(status, mpi.byte, 0);
  mpi.status_set_cancelled(status, 0);
  return 0;
}
int forget(void* state) noexcept {
  auto* const barrier = static_cast<started*>(state);
  barrier->comm->let_go();
  delete barrier;
  return 0;
}
// A collective operation cannot be cancelled; MPI says so itself if a program asks.
int cancel(void*, int) noexcept { return 0; }

template <class Function>
void* address_of(Function* f) noexcept {
  return reinterpret_cast<void*>(f);
}

bool ask_me_during_progress(const library& mpi) noexcept {
  static const bool is_registered = mpi.register_progress(complete_those_that_are_over) == 0;
  return is_registered;
}

}  // namespace

int start_barrier(const library& mpi, communicator& comm, void* request) noexcept {
  auto* const barrier = new started;
  barrier->comm = &comm;
  barrier->where = &comm.hold();
  barrier->number = barrier->where->start_barrier();
  const bool is_mpich = mpi.by == family::mpich;
  if (!is_mpich) ask_me_during_progress(mpi);
  const int error =
      is_mpich ? mpi.grequest_start_polled(address_of(describe), address_of(forget),
                                           address_of(cancel), address_of(complete_if_over),
                                           address_of(complete_all), barrier, request)
               : mpi.grequest_start(address_of(describe), address_of(forget), address_of(cancel),
                                    barrier, request);
  if (error != 0) return error;
  const std::lock_guard lock(one);
  std::memcpy(&barrier->request, request, is_mpich ? sizeof(int) : sizeof(void*));
  barrier->has_request = true;
  if (barrier->is_over()) {
    complete(*barrier);
  } else if (!is_mpich) {
    barrier->following = first;
    first = barrier;
    // relaxed: the mutex orders it; others only look earlier or later.
    unfinished.fetch_add(1, relaxed);
  }
  return 0;
}

}  // namespace tutti::preload
