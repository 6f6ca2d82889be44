// SPDX-License-Identifier: Apache-2.0
// The slow paths of a participant: no room, no message at hand, large messages, and idle().
#include "tutti/mpi/packet_endpoint.hpp"

#include <stdexcept>
#include <string>

namespace tutti::mpi {

packet_endpoint::packet_endpoint(process& mine, std::uint32_t thread, shared_room* of_node,
                                 std::size_t ring_bytes)
    : process_(mine),
      rank_(mine.where().participants[mine.index()][thread]),
      thread_(thread),
      inbox_(mine.inbox_of(thread)),
      self_(rank_),
      room_(of_node) {
  out_.reserve(mine.processes());
  for (std::uint32_t to = 0; to < mine.processes(); ++to) out_.emplace_back(mine, rank_, to);
  if (of_node == nullptr) return;
  near_.assign(mine.participants(), not_near);
  for (const std::uint32_t neighbour : mine.processes_here())
    for (const rank_t one : mine.where().participants[neighbour]) {
      near_[one] = static_cast<rank_t>(of_room_.size());
      of_room_.push_back(one);
    }
  // A participant that waits for packets polls, so it sees ring messages too.
  rings_.emplace(*of_node, near_[rank_], ring_bytes, waiters::poll);
}

bool packet_endpoint::make_room(rank_t to, std::size_t bytes) {
  continue_rests();
  process_.progress();
  if (has_room(to, bytes)) return true;
  let_others_run();
  return false;
}

bool packet_endpoint::send_large(outgoing& out, rank_t to, const void* data, std::size_t bytes) {
  const std::uint32_t thread = process_.where().thread_of[to];
  const auto takes = [&] {
    return process_.may_send(episode_) && out.append_large(thread, data, bytes, episode_);
  };
  if (!takes()) {
    continue_rests();
    process_.progress();
    if (!takes()) return false;
  }
  ++totals_.sent;
  return true;
}

bool packet_endpoint::wait_for_room(rank_t to, std::uint64_t deadline_ns) {
  const auto hopeless = [&](const std::string& why) {
    throw std::runtime_error("tutti: rank " + std::to_string(rank()) +
                             " waits for room to send to rank " + std::to_string(to) + why);
  };
  if (process_.has_left(to))
    hopeless(", which has left with process " + std::to_string(process_of(to)));
  if (process_.episode() != episode_)
    hopeless(", but an idle_for() whose deadline had passed has ended the episode: call idle()");
  if (deadline_ns != platform::forever_ns && native::now_ns() >= deadline_ns) return false;
  waiting_->pass();
  return true;
}

// This may be called while sends are forbidden: a message that is half sent is counted, so no
// report of this participant can end the episode before it.
void packet_endpoint::continue_rests() {
  for (outgoing& out : out_)
    if (out.has_rest()) out.continue_rest(episode_);
  continue_rings();
}

void packet_endpoint::leave() {
  flush();
  continue_rests();
  process_.depart(thread_);
}

// --- receiving -----------------------------------------------------------------------------------

bool packet_endpoint::find_message() {
  if (look()) return true;
  flush();
  continue_rests();
  process_.progress();
  if (look()) return true;
  let_others_run();
  return false;
}

// Finds the next message: in the packet at hand, in a ring, in the participant's own queue, or in
// the next packet. The sources take turns, so that none starves another.
bool packet_endpoint::look() {
  if (deferred_ != 0) at_ = std::exchange(deferred_, 0);
  constexpr unsigned sources = 3;
  for (unsigned in_vain = 0; in_vain < sources;) {
    if (at_ != 0 && step_to_message()) return true;
    source_turn_ = (source_turn_ + 1) % sources;
    if (source_turn_ == 0 && has_ring_message()) {
      woken();
      at_ = is_in_ring;
      return true;
    }
    if (source_turn_ == 1 && self_.has_message()) {
      at_ = is_self;
      return true;
    }
    in_vain = source_turn_ == 2 && open_entry() ? 0 : in_vain + 1;
  }
  return false;
}

bool packet_endpoint::open_entry() {
  if (!has_packet()) return false;
  const inbox_entry entry = *inbox_.front();
  inbox_.pop();
  home_ = entry.home;
  at_ = entry.record;
  source_ = entry.source;
  woken();
  return true;
}

// A message of another participant has come. It may refute what this one had reported before its
// deadline.
void packet_endpoint::woken() {
  if (!process_.may_send(episode_)) process_.woken_by_message();
}

// Handles pieces up to the next whole message of the packet at hand. Returns false if there is
// none.
bool packet_endpoint::step_to_message() {
  while (at_ != 0) {
    const record_header& record = home_->record(at_);
    if ((record.size & record_header::is_piece) == 0) return true;
    add_piece();
    if (at_ == is_assembled) return true;
  }
  return false;
}

void packet_endpoint::add_piece() {
  const record_header record = home_->record(at_);
  const std::byte* const from = home_->payload(at_);
  whole_size whole = 0;
  std::memcpy(&whole, from, sizeof whole);
  const std::size_t bytes = (record.size & ~record_header::is_piece) - sizeof whole;
  assembling& so_far = pieces_[source_];
  if (so_far.filled == 0) so_far.bytes.resize(whole);
  std::memcpy(so_far.bytes.data() + so_far.filled, from + sizeof whole, bytes);
  so_far.filled += bytes;
  at_ = record.next;
  one_less(home_);
  if (so_far.filled < whole) return;
  // Addresses of packets are even, so the lowest bit marks an assembled message.
  assembled_now_ = next_assembled_++ << 1 | assembled_mark;
  assembled_[assembled_now_] = std::move(so_far.bytes);
  pieces_.erase(source_);
  deferred_ = std::exchange(at_, is_assembled);
}

received packet_endpoint::take_assembled() {
  at_ = 0;
  ++counted_.received;
  const std::vector<std::byte>& bytes = assembled_[assembled_now_];
  return {bytes.data(), static_cast<std::uint32_t>(bytes.size()), source_, assembled_now_};
}

void packet_endpoint::release_assembled(std::uint64_t index) { assembled_.erase(index); }

received packet_endpoint::take_self() {
  at_ = 0;
  return self_.take();
}

// A run of messages that were seen together is taken before another source has its turn.
received packet_endpoint::take_from_ring() {
  received message = rings_->recv();
  message.source = of_room_[message.source];
  at_ = rings_->has_seen_message() ? is_in_ring : 0;
  ++counted_.received;
  return message;
}

std::uint64_t packet_endpoint::held() const noexcept {
  return counted_.received - totals_.freed + self_.held();
}

// The counts for termination detection. Messages to oneself are not included, because a count that
// changes costs a second wave. But a message to oneself that is held keeps the episode from ending,
// so it counts as sent from here on, and as freed at the next idle() that does not find it any
// more.
protocol::counts packet_endpoint::totals() noexcept {
  const std::uint64_t before = kept_.sent - kept_.freed, now = self_.held();
  now > before ? kept_.sent += now - before : kept_.freed += before - now;
  return {totals_.sent + kept_.sent, totals_.freed + kept_.freed};
}

// --- idle ----------------------------------------------------------------------------------------

std::optional<protocol::outcome> packet_endpoint::idle(const protocol::contribution& given,
                                                       std::uint64_t deadline_ns,
                                                       std::vector<absentee>* missing) {
  const std::uint64_t start = process_.time_idle() ? native::now_ns() : 0;
  const auto count_time = [&] {
    if (process_.time_idle()) counted_.idle_ns += native::now_ns() - start;
  };
  flush();
  polling waiting(process_.is_crowded(), process_.patience());
  bool is_inside = false;
  for (;;) {
    // The end of an episode comes before a message, which may belong to the next episode.
    if (process_.episode() != episode_) {
      const protocol::outcome done = process_.last_outcome();
      ++episode_;
      if (rings_) room_->note_end_of_episodes(episode_);
      ++counted_.episodes;
      counted_.waves += done.waves;
      count_time();
      return done;
    }
    if (is_inside ? has_news() : can_recv()) {
      if (is_inside && !process_.withdraw(thread_, episode_, false)) continue;
      counted_.refutations += is_inside ? 1 : 0;
      is_inside = false;
      // The news may be only a piece of a message.
      if (!can_recv()) continue;
      count_time();
      return std::nullopt;
    }
    if (!is_inside) {
      process_.note_held(thread_, held());
      process_.enter(thread_, episode_, totals(), given);
      is_inside = true;
    }
    continue_rests();
    flush();
    process_.progress();
    if (has_news() || process_.episode() != episode_) continue;
    if (deadline_ns != platform::forever_ns && native::now_ns() >= deadline_ns) {
      *missing = process_.missing(thread_);
      if (has_news() || !process_.withdraw(thread_, episode_, true)) continue;
      count_time();
      return std::nullopt;
    }
    waiting.pass();
  }
}

}  // namespace tutti::mpi
