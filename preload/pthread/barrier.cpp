// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_* for programs that were built without tutti.
//
// A barrier of one process counts tickets, as barrier/ticket.hpp does, and waits adaptively. The 32
// bytes of pthread_barrier_t hold a pointer to it. POSIX lets the serial thread destroy the
// barrier, and give its memory back, as soon as its own wait returns, while others have not left.
// Therefore the objects are never freed but used again, and a late thread reads only its object's
// count, which never goes back.
//
// A barrier that processes share is glibc's own, with its layout: the other process may run without
// this library.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "preload/free_list.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/mutex.hpp"
#include "tutti/wait/adaptive.hpp"

namespace {

using namespace tutti;

struct pooled {
  alignas(cache_line) std::atomic<std::uint64_t> tickets{0};
  adaptive_wait<> wait{0};
  // Both are fixed from pthread_barrier_init to pthread_barrier_destroy.
  std::uint64_t participants = 0;
  std::uint64_t first_ticket = 0;
};

// What the program's memory holds. The tag tells our barriers from glibc's.
struct handle {
  std::uint64_t tag;
  pooled* object;
};
constexpr std::uint64_t our_tag = 0x7475747469626172;
static_assert(sizeof(handle) <= sizeof(pthread_barrier_t));

struct pool {
  platform::system_mutex mutex;
  // Has room for all objects, so that pthread_barrier_destroy needs no memory.
  std::vector<pooled*> free;
  std::size_t made = 0;
};
// Never destroyed: threads may wait while the program ends.
pool& objects() {
  static pool& one = *new pool;
  return one;
}

// Returns null if there is no memory.
pooled* take_object() noexcept try {
  pool& p = objects();
  const std::lock_guard hold(p.mutex);
  if (!p.free.empty()) return take_or_make(p.free);
  if (p.made == p.free.capacity()) p.free.reserve(2 * p.made + 16);
  pooled* const made = new pooled;
  ++p.made;
  return made;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Calls glibc's function of this name.
template <auto* Function, class... Arguments>
int call_glibc(const char* name, Arguments... arguments) {
  static const auto found = reinterpret_cast<decltype(Function)>(dlsym(RTLD_NEXT, name));
  return found(arguments...);
}

handle handle_of(const pthread_barrier_t* barrier) {
  handle h{};
  std::memcpy(&h, barrier, sizeof h);
  return h;
}

// What this thread has learnt about its waits at a few barriers.
adaptive_wait<>::wait_state& state_of(const pooled* object) {
  thread_local constinit adaptive_wait<>::wait_state states[16] = {};
  return states[reinterpret_cast<std::uintptr_t>(object) / sizeof(pooled) % 16];
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int pthread_barrier_init(pthread_barrier_t* barrier,
                                                        const pthread_barrierattr_t* attributes,
                                                        unsigned count) noexcept {
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
  if (count == 0 || count > INT_MAX) return EINVAL;
  if (shared == PTHREAD_PROCESS_SHARED)
    return call_glibc<&pthread_barrier_init>("pthread_barrier_init", barrier, attributes, count);
  pooled* const object = take_object();
  if (object == nullptr) return ENOMEM;
  object->participants = count;
  // relaxed: late threads only read it.
  object->first_ticket = object->tickets.load(relaxed);
  const handle h{our_tag, object};
  std::memcpy(barrier, &h, sizeof h);
  return 0;
}

[[gnu::visibility("default")]] int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  const handle h = handle_of(barrier);
  if (h.tag != our_tag)
    return call_glibc<&pthread_barrier_destroy>("pthread_barrier_destroy", barrier);
  const handle none{};
  std::memcpy(barrier, &none, sizeof none);
  pool& p = objects();
  p.mutex.lock();
  p.free.push_back(h.object);
  p.mutex.unlock();
  return 0;
}

[[gnu::visibility("default")]] int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const handle h = handle_of(barrier);
  if (h.tag != our_tag) return call_glibc<&pthread_barrier_wait>("pthread_barrier_wait", barrier);
  pooled& b = *h.object;
  // They are read before the ticket: after the last ticket the barrier may be another one.
  const std::uint64_t participants = b.participants, first = b.first_ticket;
  // seq_cst: acquire and release pass all threads' writes from ticket to ticket; the total order
  // puts the last ticket before the check for sleepers.
  const std::uint64_t mine = b.tickets.fetch_add(1, seq_cst) - first;
  const std::uint64_t end = first + (mine / participants + 1) * participants;
  if (first + mine + 1 == end) {
    b.wait.notify_ordered(b.tickets);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  // acquire: pairs with every ticket of the phase.
  b.wait.until(state_of(&b), b.tickets, acquire,
               [end](std::uint64_t drawn) { return drawn >= end; });
  return 0;
}

}  // extern "C"
