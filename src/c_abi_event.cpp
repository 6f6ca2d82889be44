// SPDX-License-Identifier: Apache-2.0
// The C interface of events, eventcounts, condition variables and workers.
#define TUTTI_CHECKS 0

#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "src/c_abi.hpp"
#include "tutti/comm/any_wait.hpp"
#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"

namespace {

using tutti::no_deadline;
using tutti::rank_t;
using tutti::c_abi::deadline_in;

using waiting = tutti::any_wait<tutti::event_memory<tutti::native>>;

// The wait policies hear a number of waiters, and only a bound on retries depends on it.
constexpr rank_t some_waiters = 2;

template <class Object>
struct handle {
  explicit handle(auto... arguments) : object(arguments...) {}
  Object object;
};

}  // namespace

struct tutti_event : handle<tutti::basic_event<tutti::native, waiting>> {
  using handle::handle;
};
struct tutti_eventcount : handle<tutti::basic_eventcount<tutti::native, waiting>> {
  using handle::handle;
};
struct tutti_condition : handle<tutti::basic_condition_variable<tutti::native, waiting>> {
  using handle::handle;
};
struct tutti_workers : handle<tutti::basic_event_workers<tutti::native, waiting>> {
  using handle::handle;
};

namespace {

// Sets *out to a new object of these arguments and the wait policy.
template <class Object>
int create(Object** out, const char* wait, auto... arguments) noexcept {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  const std::string_view name = tutti::c_abi::wait_or_adaptive(wait);
  if (const int error = tutti::c_abi::check_names(tutti::default_algorithm, name)) return error;
  return tutti::c_abi::guarded([&] { return *out = new Object(arguments..., name), TUTTI_OK; },
                               tutti::c_abi::on<std::invalid_argument>(TUTTI_EINVAL));
}

// Calls call() with the C++ object of a handle, and returns its result, or TUTTI_OK if it has none.
template <class Handle, class Call>
int with(Handle* handle, Call call) {
  if (handle == nullptr) return TUTTI_EINVAL;
  if constexpr (std::is_void_v<decltype(call(handle->object))>) {
    call(handle->object);
    return TUTTI_OK;
  } else {
    return call(handle->object);
  }
}

template <class Object>
int set_patience(Object* object, const char* text) noexcept {
  return with(object, [&](auto& its) {
    return tutti::c_abi::set_patience(text, [&](tutti::patience p) { return its.set_patience(p); });
  });
}

int in_time(bool is_in_time) noexcept { return is_in_time ? TUTTI_OK : TUTTI_ETIMEDOUT; }

template <class Deadline>
int wait_past(tutti_event* event, std::uint32_t* place, std::uint32_t* count,
              Deadline until) noexcept {
  if (event == nullptr || place == nullptr) return TUTTI_EINVAL;
  tutti::event_place seen(*place);
  const std::uint32_t passed = event->object.wait_past_by(seen, until);
  *place = seen.broadcasts();
  if (count != nullptr) *count = passed;
  return in_time(passed != 0);
}

// A lock with the calls of the program.
class foreign_lock {
 public:
  explicit foreign_lock(const tutti_lock& calls) noexcept : calls_(calls) {}
  void lock() const { calls_.lock(calls_.object); }
  void unlock() const { calls_.unlock(calls_.object); }

 private:
  const tutti_lock& calls_;
};

template <class Deadline>
int wait_for_condition(tutti_condition* condition, const tutti_lock* lock, Deadline until) {
  if (condition == nullptr || lock == nullptr || lock->lock == nullptr || lock->unlock == nullptr)
    return TUTTI_EINVAL;
  foreign_lock held(*lock);
  return in_time(condition->object.wait_by(held, until));
}

template <class Eventcount>
auto key_of(const Eventcount&, std::uint32_t seen) noexcept {
  return typename Eventcount::key(seen);
}

int check_worker(const tutti_workers* workers, rank_t worker) noexcept {
  if (workers == nullptr) return TUTTI_EINVAL;
  return worker < workers->object.workers() ? TUTTI_OK : TUTTI_ERANK;
}
int check_post(const tutti_workers* workers, rank_t sender, rank_t worker) noexcept {
  if (const int error = check_worker(workers, worker)) return error;
  return sender < workers->object.senders() ? TUTTI_OK : TUTTI_ERANK;
}

template <class Deadline>
int wait_for_posts(tutti_workers* workers, rank_t worker, std::uint32_t* count, Deadline until) {
  if (const int error = check_worker(workers, worker)) return error;
  const std::uint32_t ran = workers->object.wait_by(worker, until);
  if (count != nullptr) *count = ran;
  return in_time(ran != 0);
}

}  // namespace

extern "C" {

int tutti_event_create(tutti_event** out, const char* wait) {
  return create(out, wait, some_waiters);
}
void tutti_event_destroy(tutti_event* event) { delete event; }
int tutti_event_set_patience(tutti_event* event, const char* patience) {
  return set_patience(event, patience);
}
int tutti_event_signal(tutti_event* event, std::uint32_t count) {
  return with(event, [&](auto& its) {
    if (count != 0) its.signal(count);
  });
}
int tutti_event_wait(tutti_event* event) {
  return with(event, [](auto& its) { its.wait(); });
}
int tutti_event_wait_for(tutti_event* event, std::uint64_t timeout_ns) {
  return with(event, [&](auto& its) { return in_time(its.wait_by(deadline_in(timeout_ns))); });
}
int tutti_event_broadcast(tutti_event* event) {
  return with(event, [](auto& its) { its.broadcast(); });
}
int tutti_event_now(const tutti_event* event, std::uint32_t* place) {
  if (event == nullptr || place == nullptr) return TUTTI_EINVAL;
  *place = event->object.now().broadcasts();
  return TUTTI_OK;
}
int tutti_event_wait_past(tutti_event* event, std::uint32_t* place, std::uint32_t* count) {
  return wait_past(event, place, count, no_deadline{});
}
int tutti_event_wait_past_for(tutti_event* event, std::uint32_t* place, std::uint32_t* count,
                              std::uint64_t timeout_ns) {
  return wait_past(event, place, count, deadline_in(timeout_ns));
}

int tutti_eventcount_create(tutti_eventcount** out, const char* wait) {
  return create(out, wait, some_waiters);
}
void tutti_eventcount_destroy(tutti_eventcount* eventcount) { delete eventcount; }
int tutti_eventcount_set_patience(tutti_eventcount* eventcount, const char* patience) {
  return set_patience(eventcount, patience);
}
int tutti_eventcount_prepare_wait(tutti_eventcount* eventcount, std::uint32_t* key) {
  if (eventcount == nullptr || key == nullptr) return TUTTI_EINVAL;
  *key = eventcount->object.prepare_wait().seen();
  return TUTTI_OK;
}
int tutti_eventcount_cancel_wait(tutti_eventcount* eventcount, std::uint32_t key) {
  return with(eventcount, [&](auto& its) { its.cancel_wait(key_of(its, key)); });
}
int tutti_eventcount_commit_wait(tutti_eventcount* eventcount, std::uint32_t key) {
  return with(eventcount, [&](auto& its) { its.commit_wait(key_of(its, key)); });
}
int tutti_eventcount_commit_wait_for(tutti_eventcount* eventcount, std::uint32_t key,
                                     std::uint64_t timeout_ns) {
  return with(eventcount, [&](auto& its) {
    return in_time(its.commit_wait(key_of(its, key), deadline_in(timeout_ns)));
  });
}
int tutti_eventcount_notify_one(tutti_eventcount* eventcount) {
  return with(eventcount, [](auto& its) { its.notify_one(); });
}
int tutti_eventcount_notify_all(tutti_eventcount* eventcount) {
  return with(eventcount, [](auto& its) { its.notify_all(); });
}

int tutti_condition_create(tutti_condition** out, const char* wait) {
  return create(out, wait, some_waiters);
}
void tutti_condition_destroy(tutti_condition* condition) { delete condition; }
int tutti_condition_set_patience(tutti_condition* condition, const char* patience) {
  return set_patience(condition, patience);
}
int tutti_condition_wait(tutti_condition* condition, const tutti_lock* lock) {
  return wait_for_condition(condition, lock, no_deadline{});
}
int tutti_condition_wait_for(tutti_condition* condition, const tutti_lock* lock,
                             std::uint64_t timeout_ns) {
  return wait_for_condition(condition, lock, deadline_in(timeout_ns));
}
int tutti_condition_notify_one(tutti_condition* condition) {
  return with(condition, [](auto& its) { its.notify_one(); });
}
int tutti_condition_notify_all(tutti_condition* condition) {
  return with(condition, [](auto& its) { its.notify_all(); });
}

int tutti_workers_create(tutti_workers** out, std::uint32_t workers, std::uint32_t senders,
                         std::uint32_t capacity, const char* wait) {
  return create(out, wait, workers, senders, capacity);
}
void tutti_workers_destroy(tutti_workers* workers) { delete workers; }
int tutti_workers_set_patience(tutti_workers* workers, const char* patience) {
  return set_patience(workers, patience);
}
int tutti_workers_add(tutti_workers* workers, tutti_action function, void* arg,
                      std::uint32_t* action) {
  if (workers == nullptr || function == nullptr || action == nullptr) return TUTTI_EINVAL;
  *action = workers->object.add(function, arg);
  return *action == workers->object.no_action ? TUTTI_EAGAIN : TUTTI_OK;
}
int tutti_workers_remove(tutti_workers* workers, std::uint32_t action, std::uint32_t by_worker) {
  return with(workers,
              [&](auto& its) { return its.remove(action, by_worker) ? TUTTI_OK : TUTTI_EINVAL; });
}
int tutti_workers_post(tutti_workers* workers, std::uint32_t sender, std::uint32_t worker,
                       std::uint32_t action, std::uintptr_t payload) {
  if (const int error = check_post(workers, sender, worker)) return error;
  workers->object.post(sender, worker, action, payload);
  return TUTTI_OK;
}
int tutti_workers_try_post(tutti_workers* workers, std::uint32_t sender, std::uint32_t worker,
                           std::uint32_t action, std::uintptr_t payload) {
  if (const int error = check_post(workers, sender, worker)) return error;
  return workers->object.try_post(sender, worker, action, payload) ? TUTTI_OK : TUTTI_EAGAIN;
}
int tutti_workers_raise(tutti_workers* workers, std::uint32_t sender, std::uint32_t worker,
                        std::uint32_t action, std::uintptr_t payload) {
  if (const int error = check_post(workers, sender, worker)) return error;
  workers->object.raise(sender, worker, action, payload);
  return TUTTI_OK;
}
int tutti_workers_poll(tutti_workers* workers, std::uint32_t worker, std::uint32_t* count) {
  if (const int error = check_worker(workers, worker)) return error;
  const std::uint32_t ran = workers->object.poll(worker);
  if (count != nullptr) *count = ran;
  return TUTTI_OK;
}
int tutti_workers_wait(tutti_workers* workers, std::uint32_t worker, std::uint32_t* count) {
  return wait_for_posts(workers, worker, count, no_deadline{});
}
int tutti_workers_wait_for(tutti_workers* workers, std::uint32_t worker, std::uint32_t* count,
                           std::uint64_t timeout_ns) {
  return wait_for_posts(workers, worker, count, deadline_in(timeout_ns));
}

}  // extern "C"
