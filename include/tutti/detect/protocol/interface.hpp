// SPDX-License-Identifier: Apache-2.0
// Termination detection as state machines: what a machine is told, what it answers, and what its executor owes it.
//
// A machine stands for one participant: a thread, or a process with several threads. It has no atomics, no clock and no
// I/O; it is told events, one at a time, and hands control messages to a function of the executor. All machines have the
// same events, so an executor is written once (machine.hpp chooses the algorithm by name):
//
//   protocol::machine m("star", rank, participants);              // one a participant, made before the first message
//   outcome o = m.passive(tally.totals(), contribution, out);     // idle(vote) was entered
//   m.active();                                                   // a message can be received: idle() returns 0
//   m.withdraw();                                                 // the deadline of idle() has passed
//   outcome o = m.receive(control, out);                          // a control message from another participant
//   outcome o = m.left(out);                                      // phases only: nobody is left inside idle()
//   m.sends_allowed()                                             // asked by can_send()
//   m.stamp(), m.admits(stamp)                                    // the episode that travels with a message
//   m.awaited(f)                                                  // f(rank): whose control message is missing
//
// `out(to, control)` is called inside an event, any number of times. It must take the message (queue it if the transport is
// full), must not call the machine, and delivers it exactly once, sooner or later. Control messages may overtake each other
// and application messages.
//
// What the executor does
//   send        only while sends_allowed(). tally.sent() at the latest before the message can be seen; the message
//               carries stamp().
//   receive     only messages that admits(their stamp); others stay where they are, in their order, until the release. A
//               passive participant that has such a message calls active() and idle() returns 0. tally.freed() when the
//               application releases it, not when it takes it.
//   idle        passive(totals, contribution): no admitted message is waiting as far as the participant can see. The totals
//               are those of this moment; they do not move while it is passive.
//   control     receive() for each, at any time, running or passive. A running participant need not look: its machine would
//               hold what is asked of it. But for control to flow through it while it runs, it must look now and then.
//   release     outcome.released: idle() returns 1 or 3, and outcome.value is the aggregate. The machine is in the next
//               episode from here on. It may be released inside passive(), receive() or left().
//   left        phases: when the application's thread is out of idle() and, in a process, all threads are. Under epochs the
//               call does nothing.
//   deadline    withdraw(). The participant may receive and release messages and call passive() again. It may send once
//               sends_allowed(), which waits for a report under way to be answered; if the answer is the release, the episode
//               is over with the vote given before, and the next idle() returns that at once.
//   a process   passive when all its threads are inside idle() of this episode, with the sums of their tallies, taken while
//               none of them can move (section III-B of the paper: count and status belong to one instant); the vote is their
//               conjunction. A message between two threads of a process may be counted or not, but the process is not passive
//               while one is under way. A thread that has left may send to one that has not: hold the message back by its
//               stamp, or wake all before any may send.
//   refusal     outcome.status other than `accepted`: the control message was not for this machine now. Nothing has changed.
//               It never happens to messages of the machines themselves, but for `overdue`: a ring whose participants
//               disagree about the operation goes on without partial values that are still under way. Drop them.
//
// Aggregates come out in the order of schedule::fold over the ranks, whichever algorithm carried them.
// Source of the whole: Naylor et al. 2020 (the paper of the refutable barrier), section III; Dijkstra, EWD998 (Safra).
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tutti/platform/config.hpp"
#include "tutti/reduce/raw_value.hpp"

namespace tutti::protocol {

// An aggregate's operand; 16 bytes hold a pair of doubles, or a value and where it was.
using value_t = raw_value<16>;
// Combines left and right, in this order, and returns the result. One function a value type and operation.
using combine_t = value_t (*)(const value_t& left, const value_t& right);

// Messages to others since the participant was made. They only grow; under way are sum(sent) - sum(freed).
struct counts {
  std::uint64_t sent = 0;
  std::uint64_t freed = 0;
};

// The participants disagree about the operation; there is no aggregate.
inline constexpr std::uint8_t mixed_operation = 255;

// What a participant gives when it enters idle().
struct contribution {
  value_t value{};
  combine_t combine = nullptr;
  // 0: no value; else the same number for the same combine on every participant, below 255; or mixed_operation: the threads
  // of this process disagree.
  std::uint32_t operation = 0;
  std::uint32_t vote = 0;  // 0 or 1
};

enum class message_kind : std::uint8_t {
  probe = 1,    // report when you are passive; in a ring: the token, which gathers as it goes
  report = 2,   // sums of a subtree
  partial = 3,  // ring: a partial aggregate, which jumps ahead of the token
  depart = 4,   // the release: the episode is over
  left = 5,     // phases: nobody of a subtree is inside idle()
  resume = 6,   // phases: sending is allowed again
};

// A control message. Trivially copyable; send its bytes between machines of the same kind.
struct control {
  std::uint64_t episode = 0;
  std::uint64_t sent = 0;  // report and token: sums over those who have reported
  std::uint64_t freed = 0;
  value_t value{};         // of a subtree; of all in a release
  rank_t source = 0;       // who sent this message
  std::uint32_t wave = 0;  // within the episode, from 1
  message_kind kind{};
  std::uint8_t black = 0;      // somebody freed a message since it last reported
  std::uint8_t unanimous = 0;  // all who have reported voted true
  std::uint8_t operation =
      0;                    // of the value; 0: none; `mixed_operation`: the participants disagree
  std::uint32_t spare = 0;  // no byte is left undefined
};
static_assert(std::is_trivially_copyable_v<control> && sizeof(control) <= 64);
static_assert(std::has_unique_object_representations_v<control>);

enum class status : std::uint8_t {
  accepted = 0,
  unknown_kind,     // not a kind of message that this machine takes
  foreign_source,   // no such rank, or none that sends to this one
  foreign_episode,  // of another episode than the one the machine is in
  foreign_wave,     // of a wave that is over or has not begun
  out_of_turn,      // a second report in a wave, a release of somebody who never reported, ...
  overdue,          // a partial value of a wave that is over; no mistake of anybody
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

// What an event came to.
struct outcome {
  protocol::status status = protocol::status::accepted;
  bool released = false;       // the episode is over
  bool unanimous = false;      // released: everybody voted true
  bool mismatched = false;     // released: not all gave the same operation; the value means nothing
  std::uint8_t operation = 0;  // released: what was reported, of the value; 0: nobody gave any
  std::uint32_t waves = 0;     // released: waves of this episode, the one that detected included
  value_t value{};             // released: the aggregate, if an operation was given
};

// How those who have been told of the end of an episode are kept from disturbing those who have not.
enum class release_scheme : std::uint8_t {
  epochs,  // messages carry their episode; the next one's are held back until the release
  phases,  // the paper's: release with sending disabled, acknowledged; then sending enabled
};

}  // namespace tutti::protocol
