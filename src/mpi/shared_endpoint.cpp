// SPDX-License-Identifier: Apache-2.0
// The endpoint of tutti::mpi whose messages are in memory that the processes share.
#include "tutti/mpi/shared_endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tutti/platform/misuse.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti::mpi {
namespace {

// The number of looks for an expected message; they take as long as entering idle() in vain.
constexpr int looks_before_idle = 8;

}  // namespace

shared_endpoint::shared_endpoint(process& mine, shared_room& room, std::uint32_t thread,
                                 std::size_t ring_bytes)
    : process_(mine),
      room_(room),
      mine_(room.of(mine.where().participants[mine.index()][thread])),
      box_(room, mine.where().participants[mine.index()][thread], ring_bytes, waiters::sleep),
      polls_before_wait_(mine.is_crowded() ? 1 : 100) {
  mine_.wait.set_patience(mine.patience());
}

// --- sending -------------------------------------------------------------------------------------

// Always returns false. If the receiver is dead, a program may ask for room for ever.
bool shared_endpoint::no_room() {
  constexpr std::uint32_t often = 4096;
  if (++vain_looks_ % often != 0) return false;
  look_for_the_dead();
  refuse_if_broken();
  return false;
}

void shared_endpoint::refuse_if_broken() {
  const release_word now = room_.look();
  if (now.has(release_word::broken) && now.episodes() == episode_) refuse_broken();
}

// Waits, awake or asleep. Now and then it checks whether the processes for which it waits are still
// alive.
template <class Event>
void shared_endpoint::wait_until(Event has_come, std::uint64_t deadline_ns) {
  constexpr std::uint64_t at_a_stretch_ns = 50'000'000;
  for (int poll = 0; poll < polls_before_wait_; ++poll) {
    if (has_come()) return;
    memory::relax();
  }
  const std::uint64_t until = std::min(deadline_ns, native::now_ns() + at_a_stretch_ns);
  const auto ready = [&has_come](std::uint32_t) noexcept { return has_come(); };
  // acquire: pairs with the waker's update of the wake word, after which everything else is looked
  // at again.
  if (!mine_.wait.until(mine_.wait_state, mine_.word, acquire, ready, deadline(until)))
    look_for_the_dead();
}

bool shared_endpoint::wait_for_room(rank_t to, std::size_t bytes, std::uint64_t deadline_ns) {
  across_processes::node_hints = room_.hints();
  refuse_if_broken();
  if (deadline_ns != platform::forever_ns && native::now_ns() >= deadline_ns) return false;
  box_.want_room(to, true);
  wait_until(
      [this, to, bytes]() noexcept {
        return box_.sees_room(to, bytes) || box_.has_news() ||
               room_.look().has(release_word::broken);
      },
      deadline_ns);
  box_.want_room(to, false);
  return true;
}

endpoint_statistics shared_endpoint::statistics() const noexcept {
  endpoint_statistics now = counted_;
  now.self = box_.sent_to_self();
  now.sent = box_.sent_to_others();
  now.received = box_.received_from_others();
  return now;
}

// --- idle ----------------------------------------------------------------------------------------

bool shared_endpoint::has_event() noexcept {
  const bool has_news = box_.has_news();
  const release_word now = room_.look();
  return has_news || now.episodes() > episode_ || now.has(release_word::broken);
}

// Records this participant's state for those that ask who is missing.
void shared_endpoint::be_seen(whereabouts where) noexcept {
  // relaxed: only error messages read it.
  mine_.holds.store(box_.held(), relaxed);
  // relaxed: as above.
  mine_.is_where.store(where, relaxed);
}

// Sends the remaining pieces of large messages. A message that is half sent counts as sent, so its
// pieces go before the word counts this participant as idle. Participants that ask are told that it
// is idle, because all wait for the receivers. Returns false if the deadline has passed; later
// calls send what is left.
bool shared_endpoint::send_rests(std::uint64_t deadline_ns, std::vector<absentee>* late) {
  if (!box_.has_rests()) return true;
  be_seen(whereabouts::idle);
  bool in_time = true;
  while (in_time && box_.has_rests() && !has_message()) {
    box_.continue_rests();
    box_.flush();
    if (box_.has_rests()) in_time = wait_for_room(rank(), 0, deadline_ns);
  }
  if (!in_time) *late = missing();
  be_seen(in_time ? whereabouts::running : whereabouts::late);
  return in_time;
}

// Publishes this participant's contribution, and ends the episode if it is the last one; then
// returns false.
bool shared_endpoint::enter(const protocol::contribution& given) {
  if (given.operation != 0) mine_.value = given.value;
  if (mine_.operation != given.operation) mine_.operation = given.operation;
  be_seen(whereabouts::idle);
  const std::uint64_t balance = box_.balance();
  bool is_unanimous = false;
  if (!room_.enter(given.vote != 0, balance - std::exchange(reported_, balance), is_unanimous))
    return true;
  ++counted_.waves;
  std::uint64_t flags = is_unanimous ? release_word::unanimous : 0;
  for (rank_t other = 0; other < size(); ++other)
    if (room_.of(other).operation != given.operation) flags |= release_word::mismatched;
  if (given.combine != nullptr && (flags & release_word::mismatched) == 0)
    room_.result() = schedule::fold(
        0, size(), [&](rank_t other) { return room_.of(other).value; }, given.combine);
  room_.release_all(rank(), episode_ + 1, flags);
  return false;
}

std::optional<protocol::outcome> shared_endpoint::leave(release_word now) {
  // relaxed: only error messages read it.
  mine_.is_where.store(whereabouts::running, relaxed);
  ++episode_;
  ++counted_.episodes;
  return protocol::outcome{.released = true,
                           .unanimous = now.has(release_word::unanimous),
                           .mismatched = now.has(release_word::mismatched),
                           .operation = static_cast<std::uint8_t>(mine_.operation),
                           .waves = 1,
                           .value = room_.result()};
}

std::optional<protocol::outcome> shared_endpoint::idle(const protocol::contribution& given,
                                                       std::uint64_t deadline_ns,
                                                       std::vector<absentee>* late) {
  across_processes::node_hints = room_.hints();
  const std::uint64_t start = process_.time_idle() ? native::now_ns() : 0;
  const auto timed = [&](std::optional<protocol::outcome> result) {
    predictor_.learn(!result);
    if (process_.time_idle()) counted_.idle_ns += native::now_ns() - start;
    return result;
  };
  for (;;) {
    if (!send_rests(deadline_ns, late)) return timed(std::nullopt);
    box_.flush();
    if (has_message()) return timed(std::nullopt);
    if (predictor_.expects_message())
      for (int look = 0; look < looks_before_idle && !box_.has_news(); ++look) memory::relax();
    if (box_.has_news() && has_message()) return timed(std::nullopt);
    enter(given);
    for (;;) {
      // The order matters: a participant that sees a message of the next episode sees the release
      // of this one afterwards.
      const bool has_news = box_.has_news();
      const release_word now = room_.look();
      if (now.episodes() > episode_) return timed(leave(now));
      if (has_news || now.has(release_word::broken)) {
        room_.refute(given.vote != 0);
        // relaxed: only error messages read it.
        mine_.is_where.store(whereabouts::running, relaxed);
        if (!has_news) refuse_broken();
        ++counted_.refutations;
        break;
      }
      if (deadline_ns != platform::forever_ns && native::now_ns() >= deadline_ns) {
        *late = missing();
        if (!room_.withdraw(given.vote != 0, episode_)) {
          native::yield();
          continue;
        }
        // relaxed: only error messages read it.
        mine_.is_where.store(whereabouts::late, relaxed);
        return timed(std::nullopt);
      }
      wait_for_event(deadline_ns);
    }
    // The news may be only a piece of a message.
    if (has_message()) return timed(std::nullopt);
  }
}

void shared_endpoint::wait_for_event(std::uint64_t deadline_ns) {
  wait_until([this]() noexcept { return has_event(); }, deadline_ns);
}

void shared_endpoint::look_for_the_dead() {
  if (const auto dead = process_.dead_neighbour())
    for (const rank_t rank : process_.where().participants[*dead]) room_.break_up(rank);
}

void shared_endpoint::refuse_broken() {
  be_seen(whereabouts::running);
  std::string gone;
  for (std::uint32_t other = 0; other < process_.processes(); ++other) {
    const auto& ranks = process_.where().participants[other];
    const bool has_gone = std::any_of(ranks.begin(), ranks.end(), [&](rank_t one) {
      // relaxed: a snapshot for a message.
      return room_.of(one).is_where.load(relaxed) == whereabouts::gone;
    });
    if (has_gone) gone += (gone.empty() ? "" : ", ") + process_.name_of(other);
  }
  throw std::runtime_error("tutti: rank " + std::to_string(rank()) +
                           " waits for those who have left or died: " + gone);
}

std::vector<absentee> shared_endpoint::missing() {
  std::vector<absentee> found;
  for (rank_t other = 0; other < size(); ++other) {
    const shared_room::rank_slot& slot = room_.of(other);
    // relaxed: a snapshot for a message.
    const whereabouts where = slot.is_where.load(relaxed);
    // relaxed: as above.
    const std::uint64_t held = slot.holds.load(relaxed);
    if (where == whereabouts::gone)
      found.push_back({other, absence::gone, 0});
    else if (where == whereabouts::running)
      found.push_back({other, absence::running, 0});
    else if (held != 0)
      found.push_back({other, absence::holding, held});
    else if (where == whereabouts::late)
      found.push_back({other, absence::late, 0});
  }
  return found;
}

}  // namespace tutti::mpi
