// SPDX-License-Identifier: Apache-2.0
// The process as a participant of termination detection, and the search for missing participants.
#include <algorithm>
#include <mutex>
#include <utility>

#include "src/mpi/neighbours.hpp"
#include "tutti/mpi/process.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::mpi {

void process::enter(std::uint32_t thread, std::uint64_t episode, const protocol::counts& totals,
                    const protocol::contribution& given) {
  const std::lock_guard mine(turn_);
  // relaxed: written in turns only.
  if (episode_.load(relaxed) != episode) return;
  members_[thread] = {true, false, totals, given};
  if (++idle_members_ == threads_) become_passive();
  run_controls();
}

// Called in a turn, in which no participant of this process can leave idle(), so counts and status
// belong to one instant.
void process::become_passive() {
  protocol::counts sum;
  protocol::contribution all = members_[0].given;
  for (const member_state& one : members_) {
    sum.sent += one.totals.sent;
    sum.freed += one.totals.freed;
    all.vote &= one.given.vote;
    if (one.given.operation != all.operation) all.operation = protocol::mixed_operation;
    if (all.combine == nullptr) all.combine = one.given.combine;
  }
  const auto value = [&](rank_t thread) { return members_[thread].given.value; };
  if (all.operation != 0 && all.operation != protocol::mixed_operation)
    all.value = schedule::fold(0, threads_, value, all.combine);
  is_passive_ = true;
  note(machine_->passive(
      sum, all, [&](rank_t to, const protocol::control& c) { controls_.emplace_back(to, c); }));
}

bool process::withdraw(std::uint32_t thread, std::uint64_t episode, bool is_late) {
  const std::lock_guard mine(turn_);
  // relaxed: written in turns only.
  if (episode_.load(relaxed) != episode || is_settling_) return false;
  members_[thread].is_idle = false;
  members_[thread].is_late = is_late;
  --idle_members_;
  if (is_passive_) {
    is_passive_ = false;
    is_late ? machine_->withdraw() : machine_->active();
    allow_sends();
  }
  return true;
}

void process::woken_by_message() {
  const std::lock_guard mine(turn_);
  machine_->active();
  allow_sends();
}

// Allows or forbids sends as the machine says.
void process::allow_sends() noexcept {
  // relaxed: episode_ is written in turns only; for sends_in_ see may_send.
  sends_in_.store(machine_->sends_allowed() ? episode_.load(relaxed) : no_episode, relaxed);
}

void process::note(const protocol::outcome& came) {
  if (came.status == protocol::status::overdue) return;
  if (came.status != protocol::status::accepted) fail(std::string(protocol::text(came.status)));
  if (!came.released) {
    // relaxed: written in turns only. The message may answer what a participant had reported before
    // its deadline.
    if (sends_in_.load(relaxed) == no_episode) allow_sends();
    return;
  }
  outcome_ = came;
  if (!folds_by_process_ && came.operation != 0 && !came.mismatched) return settle();
  end_episode();
}

void process::end_episode() {
  for (member_state& one : members_) one.is_idle = one.is_late = false;
  idle_members_ = 0;
  is_passive_ = false;
  // relaxed: written in turns only.
  const std::uint64_t next = episode_.load(relaxed) + 1;
  // relaxed: published by the release that follows. A participant that has been out of idle() since
  // its deadline is still in the old episode.
  sends_in_.store(next, relaxed);
  // release: publishes the outcome; pairs with episode().
  episode_.store(next, release);
}

void process::run_controls() {
  while (!controls_.empty()) {
    const auto [to, control] = controls_.front();
    controls_.pop_front();
    send_items(packet_kind::control, &control, 1, to);
  }
}

participant_status process::status_of(std::uint32_t thread) const {
  const rank_t rank = where_.participants[index_][thread];
  return {.is_idle = members_[thread].is_idle,
          .is_late = members_[thread].is_late,
          .has_left = has_departed_[rank],
          // relaxed: a number for a report.
          .held = held_[thread].value.load(relaxed)};
}

void process::tell_status(packet_kind kind, std::uint32_t to) {
  std::vector<participant_status> all(threads_);
  for (std::uint32_t i = 0; i < threads_; ++i) all[i] = status_of(i);
  send_items(kind, all.data(), all.size(), to);
}

void process::take_answer(std::uint32_t from, const participant_status* status) {
  const auto& ranks = where_.participants[from];
  for (std::size_t i = 0; i < ranks.size(); ++i) answers_[ranks[i]] = status[i];
  has_answered_[from] = 1;
}

// What a process says of itself when it asks is an answer too: it may not look at its packets for a
// while after.
void process::take_question(std::uint32_t from, const participant_status* status) {
  take_answer(from, status);
  asked_ns_[from] = platform::now_ns();
  tell_status(packet_kind::answer, from);
}

void process::take_departure(std::uint32_t from, std::uint64_t episode,
                             const participant_status* status) {
  const auto& ranks = where_.participants[from];
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (status[i].has_left == 0 || has_departed_[ranks[i]] != 0) continue;
    has_departed_[ranks[i]] = 1;
    departed_in_[ranks[i]] = episode;
  }
}

void process::depart(std::uint32_t thread) {
  const std::lock_guard mine(turn_);
  has_departed_[where_.participants[index_][thread]] = 1;
  // relaxed: written in turns only.
  departed_in_[where_.participants[index_][thread]] = episode_.load(relaxed);
  for (std::uint32_t other = 0; other < processes(); ++other)
    if (other != index_ && !has_left_[other]) tell_status(packet_kind::departure, other);
  poll();
}

std::vector<absentee> process::missing(std::uint32_t thread) {
  constexpr std::uint64_t patience_ns = 100'000'000;
  const std::lock_guard mine(turn_);
  const std::uint64_t begin = platform::now_ns();
  // Those who have asked just now have answered by that.
  for (std::uint32_t other = 0; other < processes(); ++other)
    if (other != index_)
      has_answered_[other] = asked_ns_[other] != 0 && begin - asked_ns_[other] < patience_ns;
  const std::vector<std::uint8_t> has_asked = has_answered_;
  std::fill(has_answered_.begin(), has_answered_.end(), std::uint8_t{0});
  // The others are told that the deadline of this participant has passed.
  const bool was_idle = std::exchange(members_[thread].is_idle, false);
  members_[thread].is_late = true;
  for (std::uint32_t other = 0; other < processes(); ++other)
    if (other != index_ && !has_left_[other]) tell_status(packet_kind::ask, other);
  members_[thread].is_idle = was_idle;
  const std::uint64_t until = begin + patience_ns;
  const auto all_answered = [&] {
    for (std::uint32_t i = 0; i < processes(); ++i)
      if (i != index_ && !has_answered_[i] && !has_left_[i]) return false;
    return true;
  };
  while (!all_answered() && platform::now_ns() < until) {
    poll();
    native::yield();
  }
  for (std::uint32_t i = 0; i < threads_; ++i)
    answers_[where_.participants[index_][i]] = status_of(i);
  std::vector<absentee> found;
  for (rank_t rank = 0; rank < participants(); ++rank) {
    const std::uint32_t where = where_.process_of[rank];
    const participant_status& status = answers_[rank];
    const bool is_known = where == index_ || has_answered_[where] || has_asked[where];
    if (has_left_[where] || has_departed_[rank])
      found.push_back({rank, absence::gone, 0});
    else if (!is_known || (!status.is_idle && !status.is_late))
      found.push_back({rank, absence::running, is_known ? status.held : 0});
    else if (status.held > 0)
      found.push_back({rank, absence::holding, status.held});
    else if (!status.is_idle)
      found.push_back({rank, absence::late, 0});
  }
  return found;
}

}  // namespace tutti::mpi
