// SPDX-License-Identifier: Apache-2.0
// tutti::shared_barrier: what a process does in the memory that it shares with others (src/shared).
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/shared/errors.hpp"
#include "src/shared/file.hpp"
#include "src/shared/onlooker.hpp"
#include "src/shared/segment.hpp"
#include "src/shared/this_process.hpp"
#include "tutti/barrier/shared.hpp"

namespace tutti {

using namespace detail::shared;

namespace {

rank_t checked_count(rank_t participants) {
  if (participants == 0 || participants > shared_barrier::most_participants)
    refuse("a barrier between processes is for 1 to " +
           std::to_string(shared_barrier::most_participants) + " participants, not " +
           std::to_string(participants));
  return participants;
}

[[noreturn]] void fail_by(const shared_barrier_error& why) {
  fail(why.why(), why.what() + std::strlen("tutti: "));
}

}  // namespace

// What one process knows of a barrier, and its participant.
struct shared_barrier::view {
  view(mapping m, rank_t participants)
      : mapped(std::move(m)), who(segment(mapped.base(), participants)) {}
  view(void* memory, rank_t participants) : who(segment(memory, participants)) {}

  const segment& memory() const noexcept { return who.memory(); }
  // A child inherits the object of its parent's participant and is none itself.
  bool is_child() const noexcept { return joined_in != process_number::of_this(); }
  bool has_joined() const noexcept { return who.rank != any_rank && !is_child(); }
  void require_joined() const {
    if (has_joined()) [[likely]]
      return;
    if (who.rank != any_rank)
      refuse("this process is a child of the one that has joined the barrier as rank " +
             std::to_string(who.rank) + ": it must join as another rank");
    refuse("this object has no participant: join the barrier first");
  }

  void leave() noexcept {
    const segment& s = memory();
    s.word().leave(arrived, phase);
    // Only now, because whoever dies after it has left is not reported.
    // release: pairs with segment::has_left().
    s.of(who.rank).has_left.store(true, release);
    s.of(who.rank).alive.give();
    // Another thread has joined, and holds its mutex until it ends. Its list of robust mutexes,
    // which glibc and the kernel follow, leads through these pages.
    if (s.is_held(who.rank)) mapped.keep();
    who.rank = any_rank;
  }

  shared_result wait(std::uint32_t of, auto deadline) noexcept {
    const segment& s = memory();
    robust_memory::here = &who;
    switch (s.word().wait(of, who.wait_state, deadline)) {
      case phases::outcome::ended: return {shared_result::kind::ended, of};
      case phases::outcome::late: return {shared_result::kind::late, of, s.word().missing(of)};
      case phases::outcome::broken: break;
    }
    const auto died = s.word().died();
    return {shared_result::kind::died, of, 0, died.rank, died.process};
  }

  mapping mapped;
  onlooker who;
  // The process of the participant, if there is one.
  std::uint32_t joined_in = 0;
  // The phase of the last arrival, if there was one.
  bool arrived = false;
  std::uint32_t phase = 0;
};

shared_barrier shared_barrier::create(std::string_view name, rank_t participants,
                                      shared_barrier_options options) {
  auto made = create_file(name, checked_count(participants), options);
  if (!made) fail(reason::exists, text_of(name) + " exists already");
  return shared_barrier(new view(std::move(*made), participants));
}

shared_barrier shared_barrier::attach(std::string_view name, rank_t participants) {
  checked_count(participants);
  const std::string what = text_of(name);
  const descriptor file(open_file(path_of(name)));
  if (!file && errno == ENOENT) fail(reason::missing, "nobody has created " + what);
  if (!file) fail_by_system("opening " + what);
  mapping mapped = map_file(file, what);
  const segment found(mapped.base());
  if (const auto why = complaint(found, what)) fail_by(*why);
  check_count(found, participants, what);
  return shared_barrier(new view(std::move(mapped), participants));
}

shared_barrier shared_barrier::create_or_attach(std::string_view name, rank_t participants,
                                                shared_barrier_options options) {
  checked_count(participants);
  const std::string what = text_of(name), path = path_of(name);
  for (;;) {
    if (auto made = create_file(name, participants, options))
      return shared_barrier(new view(std::move(*made), participants));
    const descriptor file(open_file(path));
    if (!file && errno == ENOENT) continue;
    if (!file) fail_by_system("opening " + what);
    mapping mapped = map_file(file, what);
    const segment found(mapped.base());
    const auto why = complaint(found, what);
    if (!why) {
      check_count(found, participants, what);
      return shared_barrier(new view(std::move(mapped), participants));
    }
    // A stale barrier may be that of a job of another size.
    if (why->why() != reason::stale) fail_by(*why);
    unlink_file(file, path, what);
  }
}

bool shared_barrier::unlink(std::string_view name) {
  const std::string path = path_of(name);
  // A process that is removing this barrier because it is stale would otherwise remove its
  // successor. Whoever may not open the file may still remove its name.
  const descriptor file(open_file(path));
  if (file) flock(file.number(), LOCK_EX);
  if (::unlink(path.c_str()) == 0) return true;
  if (errno != ENOENT) fail_by_system("removing " + text_of(name));
  return false;
}

std::size_t shared_barrier::bytes_for(rank_t participants) {
  return segment::bytes_for(checked_count(participants));
}

namespace {
void check_place(const void* memory, std::size_t bytes, rank_t participants) {
  require(memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % cache_line == 0,
          "a barrier between processes lies at a multiple of 128 bytes");
  const std::size_t needed = shared_barrier::bytes_for(participants);
  if (bytes < needed)
    refuse("a barrier of " + std::to_string(participants) + " participants takes " +
           std::to_string(needed) + " bytes, and the memory has " + std::to_string(bytes));
}
}  // namespace

void shared_barrier::build(void* memory, std::size_t bytes, rank_t participants,
                           shared_barrier_options options) {
  check_place(memory, bytes, participants);
  segment(memory, participants).build(options.patience);
}

shared_barrier shared_barrier::at(void* memory, std::size_t bytes, rank_t participants) {
  check_place(memory, bytes, participants);
  check(memory, bytes, "this memory");
  check_count(segment(memory), participants, "this memory");
  return shared_barrier(new view(memory, participants));
}

shared_barrier::~shared_barrier() {
  if (view_ == nullptr) return;
  if (view_->has_joined()) view_->leave();
  if (robust_memory::here == &view_->who) robust_memory::here = nullptr;
  delete view_;
}

shared_barrier::shared_barrier(shared_barrier&& other) noexcept
    : view_(std::exchange(other.view_, nullptr)) {}

shared_barrier& shared_barrier::operator=(shared_barrier&& other) noexcept {
  // The barrier that this object had ends here, as it would with the object.
  shared_barrier had(std::move(other));
  std::swap(view_, had.view_);
  return *this;
}

rank_t shared_barrier::join(rank_t rank) {
  const segment& s = view_->memory();
  if (view_->has_joined())
    refuse("this object has joined the barrier as rank " + std::to_string(view_->who.rank) +
           " already");
  if (rank != any_rank && rank >= s.participants())
    refuse("rank " + std::to_string(rank) + " is not below the barrier's " +
           std::to_string(s.participants()) + " participants");
  if (const auto why = complaint(s, "the barrier")) fail_by(*why);
  const rank_t first = rank == any_rank ? 0 : rank;
  const rank_t last = rank == any_rank ? s.participants() - 1 : rank;
  for (rank_t r = first; r <= last; ++r) {
    if (s.has_left(r)) continue;
    const auto taking = s.of(r).alive.try_take();
    // A participant may have left since the look above, and ended before it gave the lock back.
    if (taking == platform::robust_lock::taking::dead && !s.has_left(r)) {
      s.word().break_for(r, s.process_of(r));
      s.of(r).alive.give();
      fail(reason::died,
           "the barrier is broken: " + participant_text(r, s.process_of(r)) + " has died");
    }
    if (taking == platform::robust_lock::taking::busy) continue;
    if (s.has_left(r)) {
      s.of(r).alive.give();
      continue;
    }
    // relaxed: for messages; a process that is found dead has written it before its end.
    s.of(r).process.store(static_cast<std::int32_t>(getpid()), relaxed);
    view_->joined_in = process_number::of_this();
    view_->arrived = false;
    view_->who.rank = r;
    return r;
  }
  if (rank == any_rank)
    fail(reason::taken,
         "all " + std::to_string(s.participants()) + " ranks of the barrier are taken");
  fail(reason::taken, participant_text(rank, s.process_of(rank)) +
                          (s.has_left(rank) ? " has left the barrier; nobody can join as it again"
                                            : " has joined the barrier already"));
}

void shared_barrier::leave() {
  view_->require_joined();
  view_->leave();
}

std::uint32_t shared_barrier::arrive() {
  view_->require_joined();
  const segment& s = view_->memory();
  if (view_->arrived && s.word().phase() == view_->phase && !s.word().is_broken())
    refuse("rank " + std::to_string(view_->who.rank) + " has arrived in phase " +
           std::to_string(view_->phase) + " already");
  std::uint32_t phase = 0;
  view_->arrived = s.word().arrive(phase);
  view_->phase = phase;
  // relaxed: for messages.
  if (view_->arrived) s.arrivals_of(view_->who.rank).store(phase + 1, relaxed);
  return phase;
}

shared_result shared_barrier::wait(std::uint32_t phase) {
  view_->require_joined();
  return view_->wait(phase, no_deadline{});
}

shared_result shared_barrier::wait_until_ns(std::uint32_t phase, std::uint64_t deadline_ns) {
  view_->require_joined();
  return view_->wait(phase, deadline(deadline_ns));
}

shared_result shared_barrier::arrive_and_wait() { return view_->wait(arrive(), no_deadline{}); }

void shared_barrier::arrive_and_drop() {
  view_->require_joined();
  // To leave before the arrival is to have arrived: no phase waits for this participant any more.
  const segment& s = view_->memory();
  if (view_->arrived && s.word().phase() == view_->phase && !s.word().is_broken())
    refuse("rank " + std::to_string(view_->who.rank) + " has arrived in phase " +
           std::to_string(view_->phase) + " already: use leave()");
  view_->leave();
}

std::vector<rank_t> shared_barrier::missing_ranks(std::uint32_t phase) const {
  const segment& s = view_->memory();
  std::vector<rank_t> missing;
  if (s.word().missing(phase) == 0) return missing;
  for (rank_t r = 0; r < s.participants(); ++r) {
    // relaxed: a snapshot for messages.
    const std::uint32_t arrived = s.arrivals_of(r).load(relaxed);
    if (arrived != phase + 1 && !s.has_left(r)) missing.push_back(r);
  }
  return missing;
}

std::int32_t shared_barrier::process_of(rank_t rank) const {
  const segment& s = view_->memory();
  return rank < s.participants() ? s.process_of(rank) : 0;
}

rank_t shared_barrier::participants() const noexcept { return view_->memory().participants(); }
rank_t shared_barrier::rank() const noexcept {
  return view_->has_joined() ? view_->who.rank : any_rank;
}
void shared_barrier::set_patience(patience p) noexcept { view_->memory().word().set_patience(p); }

}  // namespace tutti
