// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/started_barriers.hpp"

#include <atomic>
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
  // Several threads may test one request.
  std::atomic<std::uint32_t> looks = 0;
  bool is_over() noexcept { return where->is_over(number, next); }
  // The request, once MPI has made it.
  handle request = 0;
  bool has_request = false;
  // A thread has found that it is over; MPI has been told so; MPI has freed the request meanwhile.
  bool is_complete = false, is_told = false, is_forgotten = false;
  // Its place in the list.
  started* following = nullptr;
  started** link = nullptr;
  started* following_over = nullptr;
};

// The barriers of this process whose requests are not freed yet. MPI may ask from several threads.
std::mutex one;
started* first = nullptr;
std::atomic<int> unfinished{0};

void enlist(started& barrier) noexcept {
  barrier.following = first;
  if (first != nullptr) first->link = &barrier.following;
  barrier.link = &first;
  first = &barrier;
  // relaxed: the mutex orders it; others only look earlier or later.
  unfinished.fetch_add(1, relaxed);
}
void unlist(started& barrier) noexcept {
  if (barrier.link == nullptr) return;
  *barrier.link = barrier.following;
  if (barrier.following != nullptr) barrier.following->link = barrier.link;
  barrier.link = nullptr;
  // relaxed: as in enlist().
  if (!barrier.is_complete) unfinished.fetch_sub(1, relaxed);
}
// The caller has the mutex.
started* find(const library& mpi, handle request) noexcept {
  started* each = first;
  while (each != nullptr && mpi.key(each->request) != mpi.key(request)) each = each->following;
  return each;
}
// The caller has the mutex, and calls tell() without it.
void note_complete(started& barrier) noexcept {
  barrier.is_complete = true;
  // relaxed: as in enlist().
  unfinished.fetch_sub(1, relaxed);
}
// Completes the request. The caller does not have the mutex: MPICH takes a lock of its own, and
// holds that lock while it calls forget(). A thread that waits for the request may be quick and
// free it during this call.
void tell(started& barrier) noexcept {
  const library& mpi = *library::get();
  mpi.grequest_complete(barrier.request);
  std::unique_lock lock(one);
  barrier.is_told = true;
  const bool is_last = barrier.is_forgotten;
  lock.unlock();
  if (is_last) delete &barrier;
}

// Open MPI calls this whenever it makes progress.
int complete_those_that_are_over() noexcept {
  // relaxed: only decides whether to look.
  if (unfinished.load(relaxed) == 0) return 0;
  started* over = nullptr;
  {
    const std::unique_lock lock(one, std::try_to_lock);
    if (!lock.owns_lock()) return 0;
    for (started* each = first; each != nullptr; each = each->following) {
      if (each->is_complete || !each->is_over()) continue;
      note_complete(*each);
      each->following_over = over;
      over = each;
    }
  }
  int completed = 0;
  while (over != nullptr) {
    started* const each = over;
    over = each->following_over;
    ++completed;
    tell(*each);
  }
  return completed;
}

// Completes a request of MPICH whose barrier is over. Returns whether it is complete. The caller
// waits for the request or tests it, and so nobody else frees it.
bool complete_if_over(started& barrier) noexcept {
  {
    const std::lock_guard lock(one);
    if (barrier.is_complete) return barrier.is_told;
    if (!barrier.has_request || !barrier.is_over()) return false;
    note_complete(barrier);
  }
  tell(barrier);
  return true;
}

// MPICH calls this for a request that is waited for or tested. In MPI_Wait it calls nothing else,
// so the program's messages would stand still, those for which the others wait among them.
int poll(void* state, void*) noexcept {
  auto& barrier = *static_cast<started*>(state);
  if (complete_if_over(barrier)) return 0;
  barrier.comm->make_progress();
  // With more ranks than CPUs, MPICH would keep the CPU from the rank for which this one waits.
  constexpr std::uint32_t looks_before_yields = 64;
  // relaxed: publishes nothing.
  if (barrier.looks.fetch_add(1, relaxed) > looks_before_yields) native::yield();
  return 0;
}

// MPICH calls this in MPI_Waitall and its like, one request after the other, and expects all to be
// complete afterwards.
int wait_for_all(int count, void** states, double, void*) noexcept {
  for (int i = 0; i < count; ++i)
    while (!complete_if_over(*static_cast<started*>(states[i]))) poll(states[i], nullptr);
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
  communicator& comm = *barrier->comm;
  std::unique_lock lock(one);
  unlist(*barrier);
  // The thread that tells MPI deletes it.
  barrier->is_forgotten = barrier->is_complete && !barrier->is_told;
  const bool is_last = !barrier->is_forgotten;
  lock.unlock();
  if (is_last) delete barrier;
  // Only now: whoever has the mutex looks into the room of each barrier that is in the list.
  comm.let_go();
  return 0;
}
// A collective operation cannot be cancelled. MPI knows the request as one of the program's own and
// would believe that it can be.
int cancel(void*, int) noexcept { return library::get()->not_cancelled; }

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
  auto* const barrier = new (std::nothrow) started;
  if (barrier == nullptr) return mpi.other_error;
  barrier->comm = &comm;
  const bool is_mpich = mpi.by == family::mpich;
  if (!is_mpich) ask_me_during_progress(mpi);
  const int error = is_mpich ? mpi.grequest_start_polled(address_of(describe), address_of(forget),
                                                         address_of(cancel), address_of(poll),
                                                         address_of(wait_for_all), barrier, request)
                             : mpi.grequest_start(address_of(describe), address_of(forget),
                                                  address_of(cancel), barrier, request);
  // Without a request no barrier is started: the next ones are those of all.
  if (error != 0) {
    delete barrier;
    return error;
  }
  // Nobody asks for it before: the program does not have the request yet.
  barrier->where = &comm.hold();
  barrier->number = barrier->where->start_barrier();
  std::unique_lock lock(one);
  barrier->request = mpi.read(request);
  barrier->has_request = true;
  enlist(*barrier);
  // MPICH asks for it later.
  if (is_mpich || !barrier->is_over()) return 0;
  note_complete(*barrier);
  lock.unlock();
  tell(*barrier);
  return 0;
}

void complete_before_status(const library& mpi, handle request) noexcept {
  if (mpi.by != family::mpich) return;
  std::unique_lock lock(one);
  started* const barrier = find(mpi, request);
  if (barrier == nullptr || barrier->is_complete || !barrier->is_over()) return;
  note_complete(*barrier);
  lock.unlock();
  tell(*barrier);
}

bool is_started_barrier(const library& mpi, handle request) noexcept {
  const std::lock_guard lock(one);
  return find(mpi, request) != nullptr;
}

int refuse_free(const library& mpi, const void* request) noexcept {
  if (request == nullptr) return 0;
  const bool is_mpich = mpi.by == family::mpich;
  const std::lock_guard lock(one);
  const started* const barrier = find(mpi, mpi.read(request));
  // Open MPI frees those that are complete.
  if (barrier == nullptr || (!is_mpich && barrier->is_complete)) return 0;
  return is_mpich ? mpi.other_error : mpi.wrong_request;
}

}  // namespace tutti::preload
