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
//
// No function here is a cancellation point, as in glibc, and none changes errno.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <new>

#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/found_once.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/thread_sanitizer.hpp"
#include "tutti/wait/adaptive.hpp"

namespace {

using namespace tutti;

struct pooled {
  // ThreadSanitizer learns from it what the barrier orders.
  alignas(cache_line) platform::told_atomic<std::uint64_t> tickets{0};
  adaptive_wait<> wait{0};
  // Both are fixed from pthread_barrier_init to pthread_barrier_destroy.
  std::uint64_t participants = 0;
  std::uint64_t first_ticket = 0;
  // The barrier for which the object was last initialised. It is null if the program has destroyed
  // that barrier or uses a copy of it.
  std::atomic<const pthread_barrier_t*> at{nullptr};
  pooled* next_free = nullptr;
  // LeakSanitizer finds every object by it.
  const pooled* made_before = nullptr;
};

// What the program's memory holds. The tag tells our barriers from glibc's.
struct handle {
  std::uint64_t tag;
  pooled* object;
  // Tells the pointer from one that another process has left in memory that both map.
  std::uint64_t seal;
};
constexpr std::uint64_t our_tag = 0x7475747469626172, destroyed_tag = 0x7475747469656e64;
static_assert(sizeof(handle) <= sizeof(pthread_barrier_t));

// The objects that are free, constant and without a destructor: other libraries may call before
// this one is initialised, and threads may wait while the program ends.
//
// The lock is no mutex, and nothing is locked while a thread forks: the program's own handlers of
// forks may make barriers. A child takes over the lock if a thread held it that was not forked.
class pool {
 public:
  // Returns null if there is none.
  pooled* take() noexcept {
    lock();
    // relaxed: the lock orders it.
    pooled* const taken = free_.load(relaxed);
    if (taken != nullptr) free_.store(taken->next_free, relaxed);
    unlock();
    return taken;
  }
  void give_back(pooled* object) noexcept {
    lock();
    // relaxed: the lock orders it. release: a child sees a whole list if this thread is not forked.
    object->next_free = free_.load(relaxed);
    free_.store(object, release);
    unlock();
  }
  void add(pooled* made) noexcept {
    lock();
    made->made_before = made_;
    made_ = made;
    unlock();
  }

 private:
  void lock() noexcept {
    const auto process = static_cast<std::uint32_t>(getpid());
    for (;;) {
      std::uint32_t holder = 0;
      // acquire: pairs with unlock. relaxed: another try follows.
      if (holder_.compare_exchange_strong(holder, process, acquire, relaxed)) return;
      // acquire: as above, and nobody unlocks. relaxed: another try follows.
      if (holder != process && holder_.compare_exchange_strong(holder, process, acquire, relaxed))
        return;
      // Nobody is woken: few threads make barriers at the same time.
      platform::futex_wait(&holder_, process, platform::now_ns() + 50'000);
    }
  }
  // release: publishes the lists.
  void unlock() noexcept { holder_.store(0, release); }

  // The process of the thread that holds the lock, or 0.
  std::atomic<std::uint32_t> holder_{0};
  std::atomic<pooled*> free_{nullptr};
  const pooled* made_ = nullptr;
};
constinit pool objects{};

handle handle_of(const pthread_barrier_t* barrier) {
  handle h{};
  std::memcpy(&h, barrier, sizeof h);
  return h;
}

std::uint64_t seal(const pooled* object) noexcept {
  std::uint64_t key = 0;
  // 16 random bytes, which a process has from its parent.
  if (const auto* const random = reinterpret_cast<const char*>(getauxval(AT_RANDOM)))
    std::memcpy(&key, random, sizeof key);
  key += static_cast<std::uint64_t>(getpid()) * 0x9e3779b97f4a7c15;
  return reinterpret_cast<std::uintptr_t>(object) ^ key;
}

// Returns the object of a barrier that the program has used and initialises anew without having
// destroyed it, as programs do that have a barrier on the stack. Nobody may wait there, so no round
// is open. A barrier that has only been initialised may have been copied and be in use elsewhere.
// The memory may hold anything if it was no barrier.
pooled* left_at(const pthread_barrier_t* barrier) noexcept {
  const handle h = handle_of(barrier);
  // relaxed: no thread uses the barrier meanwhile.
  if (h.tag != our_tag || h.seal != seal(h.object) || h.object->at.load(relaxed) != barrier)
    return nullptr;
  const std::uint64_t drawn = h.object->tickets.load(relaxed) - h.object->first_ticket;
  return drawn != 0 && drawn % h.object->participants == 0 ? h.object : nullptr;
}

// Returns null if there is no memory.
pooled* take_object(const pthread_barrier_t* barrier) noexcept {
  pooled* object = left_at(barrier);
  if (object == nullptr) object = objects.take();
  if (object == nullptr) {
    object = new (std::nothrow) pooled;
    if (object == nullptr) return nullptr;
    objects.add(object);
  }
  // relaxed: the program publishes the barrier.
  object->at.store(barrier, relaxed);
  return object;
}

// Calls glibc's function of this name. The child of a fork() beside the first call may call, too.
template <auto* Function, class... Arguments>
int call_glibc(const char* name, Arguments... arguments) noexcept {
  static constinit platform::found_once<void*> found{nullptr};
  void* const function = found.get([name] { return dlsym(RTLD_NEXT, name); });
  return reinterpret_cast<decltype(Function)>(function)(arguments...);
}

// What this thread has learnt about its waits at a few barriers.
adaptive_wait<>::wait_state& state_of(const pooled* object) {
  thread_local constinit adaptive_wait<>::wait_state states[16] = {};
  return states[reinterpret_cast<std::uintptr_t>(object) / sizeof(pooled) % 16];
}

class kept_errno {
 public:
  kept_errno() noexcept = default;
  ~kept_errno() { errno = before_; }
  kept_errno(const kept_errno&) = delete;
  kept_errno& operator=(const kept_errno&) = delete;

 private:
  const int before_ = errno;
};

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int pthread_barrier_init(pthread_barrier_t* barrier,
                                                        const pthread_barrierattr_t* attributes,
                                                        unsigned count) noexcept {
  const kept_errno kept;
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
  if (count == 0 || count > INT_MAX) return EINVAL;
  if (shared == PTHREAD_PROCESS_SHARED)
    return call_glibc<&pthread_barrier_init>("pthread_barrier_init", barrier, attributes, count);
  pooled* const object = take_object(barrier);
  if (object == nullptr) return ENOMEM;
  object->participants = count;
  // relaxed: late threads only read it.
  object->first_ticket = object->tickets.load(relaxed);
  const handle h{our_tag, object, seal(object)};
  std::memcpy(barrier, &h, sizeof h);
  return 0;
}

// A barrier may be destroyed again, as with glibc.
[[gnu::visibility("default")]] int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  const kept_errno kept;
  const handle h = handle_of(barrier);
  if (h.tag == destroyed_tag) return 0;
  if (h.tag != our_tag)
    return call_glibc<&pthread_barrier_destroy>("pthread_barrier_destroy", barrier);
  const handle none{destroyed_tag, nullptr, 0};
  std::memcpy(barrier, &none, sizeof none);
  // A copy of a barrier gives nothing back, because the object may be in use. relaxed: the program
  // orders its calls at a barrier that it destroys.
  if (h.object->at.load(relaxed) == barrier) {
    h.object->at.store(nullptr, relaxed);
    objects.give_back(h.object);
  }
  return 0;
}

[[gnu::visibility("default")]] int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const kept_errno kept;
  const handle h = handle_of(barrier);
  if (h.tag != our_tag) [[unlikely]]
    return h.tag == destroyed_tag
               ? EINVAL
               : call_glibc<&pthread_barrier_wait>("pthread_barrier_wait", barrier);
  pooled& b = *h.object;
  // relaxed: left_at() and pthread_barrier_destroy() look when no thread waits.
  if (const auto* const at = b.at.load(relaxed); at != barrier) [[unlikely]]
    if (at != nullptr) b.at.store(nullptr, relaxed);
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
