// SPDX-License-Identifier: Apache-2.0
// The slow paths of a participant: no room, no message at hand, large messages, and idle().
#include "tutti/mpi/packet_endpoint.hpp"

#include <stdexcept>
#include <string>

namespace tutti::mpi {

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

// Finds the next message: in the packet at hand, in the next packet, or in the participant's own
// queue.
bool packet_endpoint::look() {
  if (deferred_ != 0) at_ = std::exchange(deferred_, 0);
  for (;;) {
    if (at_ != 0 && step_to_message()) return true;
    // The two sources take turns, so that neither starves the other.
    self_turn_ = !self_turn_;
    if (self_turn_ && self_.has_message()) break;
    if (open_entry()) continue;
    if (self_.has_message()) break;
    return false;
  }
  at_ = is_self;
  return true;
}

bool packet_endpoint::open_entry() {
  if (!has_news()) return false;
  const inbox_entry entry = *inbox_.front();
  inbox_.pop();
  home_ = entry.home;
  at_ = entry.record;
  source_ = entry.source;
  if (!process_.may_send(episode_)) process_.woken_by_message();
  return true;
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
