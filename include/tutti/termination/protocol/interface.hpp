// SPDX-License-Identifier: Apache-2.0
// Termination detection as state machines: the events that a machine is told, its answers, and the
// duties of its executor.
//
// A machine stands for one participant: a thread, or a process with several threads. It has no
// atomics, no clock and no I/O. The executor tells it events, one at a time, and the machine passes
// control messages to a function of the executor. All machines have the same events, so an executor
// is written once (machine.hpp chooses the algorithm by name):
//
//   // One machine per participant, made before the first message.
//   protocol::machine m("star", rank, participants);
//   outcome o = m.passive(message_counts.totals(), contribution, out);  // idle(vote) was entered
//   m.active();                    // a message can be received: idle() returns 0
//   m.withdraw();                  // the deadline of idle() has passed
//   outcome o = m.receive(control, out);  // a control message from another participant
//   outcome o = m.left(out);       // phases only: nobody is left inside idle()
//   m.sends_allowed()              // asked by can_send()
//   m.stamp(), m.admits(stamp)     // the episode that travels with a message
//   m.awaited(f)                   // calls f(rank) for those whose control message is missing
//
// An event calls `out(to, control)` any number of times. `out` must accept the message (and queue
// it if the transport is full), must not call the machine, and must deliver the message exactly
// once, sooner or later. Control messages may overtake each other and application messages.
//
// Duties of the executor
//   send        Send only while sends_allowed(). Call message_counts.sent() before the message can
//               be seen. The message carries stamp().
//   receive     Receive only messages whose stamp the machine admits(). Leave others where they
//               are, in their order, until the release. If a passive participant has an admitted
//               message, call active(); idle() returns 0. Call message_counts.freed() when the
//               application releases the message, not when it takes it.
//   idle        Call passive(totals, contribution) when no admitted message is waiting as far as
//               the participant can see. The totals are those of this moment, and they must not
//               change while the participant is passive.
//   control     Call receive() for each control message, at any time, running or passive. A running
//               participant may ignore control messages, because its machine would hold the
//               request. But if control messages of others pass through it, it must look now and
//               then.
//   release     If outcome.released, idle() returns 1 or 3, and outcome.value is the aggregate.
//               From here on the machine is in the next episode. passive(), receive() and left()
//               can release.
//   left        Phases: call left() when the application's thread (in a process: all threads) has
//               returned from idle(). Under epochs the call does nothing.
//   deadline    Call withdraw(). The participant may receive and release messages and call
//               passive() again. It may send once sends_allowed() is true, which requires that a
//               report under way has been answered. If the answer is the release, the episode is
//               over with the vote given before, and the next idle() returns that at once.
//   a process   A process is passive when all its threads are inside idle() of this episode. Its
//               totals are the sums of their counted, taken while no thread can move (Naylor et al.
//               2020, section III-B: count and status belong to one instant). Its vote is the
//               conjunction of theirs. A message between two threads of a process may be counted or
//               not, but the process is not passive while one is under way. A thread that has left
//               may send to one that has not: hold the message back by its stamp, or wake all
//               threads before any may send.
//   refusal     If outcome.status is not `accepted`, the control message was not for this machine
//               at this moment, and nothing has changed. This never happens to messages of the
//               machines themselves, except `overdue`: a ring whose participants disagree about the
//               operation goes on without the partial values that are still under way. Drop them.
//
// Aggregates are combined in the order of schedule::fold over the ranks, whichever algorithm
// carried them.
// Source: Naylor et al. 2020, section III; Dijkstra, EWD998 (Safra's algorithm), 1987.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tutti/platform/config.hpp"
#include "tutti/reduce/raw_value.hpp"

namespace tutti::protocol {

// The operand of an aggregate. 16 bytes hold a pair of doubles, or a value and its location.
using value_t = raw_value<16>;
// Combines left and right, in this order, and returns the result. There is one function per value
// type and operation.
using combine_t = value_t (*)(const value_t& left, const value_t& right);

// Messages to and from others since the participant was made. Both counts only grow; sum(sent) -
// sum(freed) messages are under way.
struct counts {
  std::uint64_t sent = 0;
  std::uint64_t freed = 0;
};

// The participants disagree about the operation; there is no aggregate.
inline constexpr std::uint8_t mixed_operation = 255;

// A participant's contribution when it enters idle().
struct contribution {
  value_t value{};
  combine_t combine = nullptr;
  // 0: no value. Otherwise a number below 255, the same for the same `combine` on every
  // participant, or mixed_operation if the threads of this process disagree.
  std::uint32_t operation = 0;
  // 0 or 1.
  std::uint32_t vote = 0;
};

enum class message_kind : std::uint8_t {
  // Report when you are passive. In a ring this is the token, which gathers the sums as it goes.
  probe = 1,
  // The sums of a subtree.
  report = 2,
  // Ring: a partial aggregate, which overtakes the token.
  partial = 3,
  // The release: the episode is over.
  depart = 4,
  // Phases: nobody in a subtree is inside idle().
  left = 5,
  // Phases: sending is allowed again.
  resume = 6,
};

// A control message. It is trivially copyable; send its bytes between machines of the same kind.
struct control {
  std::uint64_t episode = 0;
  // In reports and tokens: the sums over the participants that have reported.
  std::uint64_t sent = 0;
  std::uint64_t freed = 0;
  // The value of a subtree; in a release, the aggregate of all.
  value_t value{};
  // The sender of this message.
  rank_t source = 0;
  // The number of the wave within the episode, from 1.
  std::uint32_t wave = 0;
  message_kind kind{};
  // A participant has freed a message since its last report.
  std::uint8_t black = 0;
  // All participants that have reported voted true.
  std::uint8_t unanimous = 0;
  // The operation of the value. 0: none; `mixed_operation`: the participants disagree.
  std::uint8_t operation = 0;
  // Leaves no byte undefined.
  std::uint32_t spare = 0;
};
static_assert(std::is_trivially_copyable_v<control> && sizeof(control) <= 64);
static_assert(std::has_unique_object_representations_v<control>);

enum class status : std::uint8_t {
  accepted = 0,
  // A kind of message that this machine does not take.
  unknown_kind,
  // No such rank, or a rank that sends nothing to this one.
  foreign_source,
  // The message belongs to another episode than the machine.
  foreign_episode,
  // The message belongs to a wave that is over or has not begun.
  foreign_wave,
  // For example a second report in a wave, or a release from a participant that never reported.
  out_of_turn,
  // A partial value of a wave that is over; this is no mistake.
  overdue,
};

constexpr std::string_view text(status s) noexcept {
  switch (s) {
    case status::accepted: return "accepted";
    case status::unknown_kind: return "a control message of a kind that this machine does not take";
    case status::foreign_source: return "a control message from a rank that sends none to this one";
    case status::foreign_episode: return "a control message of another episode";
    case status::foreign_wave: return "a control message of another wave";
    case status::out_of_turn: return "a control message out of turn";
    case status::overdue: return "a partial value of a wave that is over";
  }
  return "no status";
}

// The result of an event.
struct outcome {
  protocol::status status = protocol::status::accepted;
  // The episode is over.
  bool released = false;
  // If released: everybody voted true.
  bool unanimous = false;
  // If released: not all participants gave the same operation; the value means nothing.
  bool mismatched = false;
  // If released: the reported operation of the value. 0: no participant gave any.
  std::uint8_t operation = 0;
  // If released: the waves of this episode, including the one that detected.
  std::uint32_t waves = 0;
  // If released: the aggregate, if an operation was given.
  value_t value{};
};

// How participants that know of the end of an episode are kept from disturbing those that do not.
enum class release_scheme : std::uint8_t {
  // Messages carry their episode; messages of the next episode are held back until the release.
  epochs,
  // The scheme of Naylor et al. 2020: release with sending disabled, acknowledgement, then sending
  // enabled.
  phases,
};

}  // namespace tutti::protocol
