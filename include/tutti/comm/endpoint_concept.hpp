// SPDX-License-Identifier: Apache-2.0
// The interface of every endpoint, whatever carries its messages and detects termination: threads
// of one process (communicator.hpp) or MPI (mpi/communicator.hpp). Programs written against
// `endpoint_like` run on both.
//
// idle() is a refutable barrier: a barrier that a participant may enter although messages may still
// come. A message refutes the barrier for its receiver, whose idle() returns at once. The barrier
// opens when all participants are in idle() and no message is in flight. The time from one opening
// to the next is an episode.
//
//   for (;;) {
//     while (work_to_send() && me.can_send(to)) me.send(to, value);
//     while (me.can_recv()) {
//       const tutti::received message = me.recv();
//       use(message.source, message.as<update>());
//       me.release(message);
//     }
//     if (work_to_send()) continue;
//     const tutti::idle_result now = me.idle(nothing_left_to_do);
//     // A message has come, and the vote is withdrawn.
//     if (now == tutti::idle_result::message) continue;
//     // All participants are idle and voted true, and no message is in flight.
//     if (now == tutti::idle_result::unanimous) break;
//     // All participants are idle, and no message is in flight.
//     next_time_step();
//   }
//
// Source: Naylor et al., "Termination detection for fine-grained message-passing architectures",
// ASAP 2020, section III. The values are those of its tinselIdle().
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/message/received.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/reduce/operations.hpp"

namespace tutti {

// Why idle() returned. A value greater than `message` means that all participants are idle and no
// message is in flight.
enum class idle_result : unsigned {
  // A message can be received here; the vote is withdrawn.
  message = 0,
  // All participants are idle and no message is in flight; at least one voted false.
  idle = 1,
  // All participants are idle and no message is in flight; all voted true.
  unanimous = 3,
};

// The result of idle() with a value. If the result is `message`, `value` is the caller's own.
template <class T>
struct idle_value {
  idle_result result = idle_result::message;
  T value{};
};

// Why a participant keeps an episode of idle() from ending.
enum class absence : std::uint8_t {
  // It has not called idle(), or a message woke it and it has not called idle() again.
  running,
  // It has called idle_for(), whose deadline has passed as well, and has not called idle() again.
  late,
  // It has received messages and not released them.
  holding,
  // It has left and will never call idle() again.
  gone,
};

// A participant that keeps an episode of idle() from ending.
struct absentee {
  rank_t rank = 0;
  absence why = absence::running;
  // For `holding`: the messages that were received and not released at its last idle().
  std::uint64_t messages = 0;
};

// The result of idle() with a deadline. It is false if the deadline passed. Then this participant
// counts as running again, and the endpoint may be used further, including idle(). The vote is
// withdrawn, with one exception: where participants report to each other (star, tree, ring, waves,
// and all detectors across processes), a report that is under way cannot be withdrawn. Until it is
// answered, can_send() and can_recv() are false. If it ends the episode, its vote counts, and the
// next idle() returns that end.
struct timed_idle {
  bool in_time = false;
  // Valid if in time.
  idle_result result = idle_result::message;
  // If late: the participants that keep the episode from ending.
  std::vector<absentee> missing;
  explicit operator bool() const noexcept { return in_time; }
};

// Counts of one endpoint since it was made. Messages to oneself are counted separately.
struct endpoint_statistics {
  // Messages to others.
  std::uint64_t sent = 0;
  // Messages from others.
  std::uint64_t received = 0;
  // Messages to oneself.
  std::uint64_t self = 0;
  // How often idle() returned 1 or 3.
  std::uint64_t episodes = 0;
  // How often a message woke idle().
  std::uint64_t refutations = 0;
  // The detection attempts that this participant began, including failed ones.
  std::uint64_t waves = 0;
  // Nanoseconds spent in idle(); 0 unless the options ask for the time.
  std::uint64_t idle_ns = 0;
};

// Throws std::invalid_argument for a message that does not fit the 32 bits of received::size.
inline void require_message_size(std::size_t bytes) {
  if (bytes > UINT32_MAX) [[unlikely]]
    refuse("a message of " + std::to_string(bytes) +
           " bytes is too large: at most 4294967295 are possible");
}

// One participant's end of a communicator. One thread (or fiber) at a time uses it.
//
//   can_send(to)      Whether there is room for one message of up to 64 bytes. It never blocks.
//                     While it is false, receive, and release everything that you have received.
//   send(to, value)   Precondition: can_send(to). Copies the value, which may be overwritten at
//                     once.
//   try_send          The same for any size, without the precondition. False: there is no room now;
//                     receive, release everything, and try again.
//   send_wait(to, value, on_message)   Waits for room as idle() waits. Passes each message that
//                     arrives meanwhile to on_message(const received&), then releases it. So
//                     participants whose rings to each other are full make progress, however slow
//                     one of them is.
//   send_wait_for(to, value, timeout, on_message)   The same for at most `timeout`. False: there
//                     was no room, and nothing is sent.
//   can_recv()        Whether recv() would return a message; true after idle() has returned
//                     `message`.
//   recv, release     A message is delivered when it is received and released. Messages may be
//                     released in any order, and several may be held at a time.
//   flush()           Makes batched messages visible. idle() does so itself, and so does can_recv()
//                     when it finds nothing for the second time in a row.
//   idle(vote)        Blocks until a message can be received here, or until all participants are
//                     idle and no message is in flight.
//   leave()           Declares that this participant will never be idle again: the others that wait
//                     get a std::runtime_error that names it.
//   idle(vote, value, op)   The same. At a release every participant gets `op` over all values, in
//                     the order of all reductions (schedule::fold). All participants of an episode
//                     must pass the same type and operation, so in one episode no participant may
//                     call idle() without a value, or with a deadline, while others pass a value.
//
// Hold no message while you wait for room. A message that is received and not released keeps the
// room of all messages that came after it. Two participants that wait for each other's room while
// each holds a message wait for ever, although both receive. Release first (copy what you still
// need), then wait. A program that asks can_send() or try_send() again and again waits too. In
// builds with checks, and between processes, a send_wait() that finds no room reports a participant
// that holds a message as misuse; builds with checks also report one that has asked 10,000 times in
// a row. Active messages (active_messages.hpp) never hold a message while they wait.
//
// on_message may call try_send() and can_send(), and it may receive more messages. The program must
// keep what finds no room there until send_wait() has returned: on_message may call neither
// send_wait() nor idle(), because waits inside waits would grow the stack with each message that
// arrives. A participant in send_wait() is not idle: no episode ends, and its vote does not count.
// A message handled there is received and released like any other, so decide the vote after
// send_wait(), not before.
//
// Messages from one participant to another arrive in the order in which they were sent.
//
// Memory ordering: everything that a participant does before it sends a message happens before
// everything that the receiver does after recv(). Everything that any participant does before
// idle() happens before everything that every participant does after the release.
template <class E>
concept endpoint_like = requires(E& e, const E& c, rank_t to, const void* data, std::size_t bytes,
                                 bool vote, const received& message) {
  { c.rank() } -> std::same_as<rank_t>;
  { c.size() } -> std::same_as<rank_t>;
  { e.can_send(to) } -> std::same_as<bool>;
  e.send(to, data, bytes);
  e.send(to, std::uint64_t{});
  { e.try_send(to, data, bytes) } -> std::same_as<bool>;
  e.send_wait(to, data, bytes, [](const received&) {});
  e.send_wait(to, std::uint64_t{}, [](const received&) {});
  {
    e.send_wait_for(to, data, bytes, std::chrono::milliseconds(1), [](const received&) {})
    } -> std::same_as<bool>;
  { e.can_recv() } -> std::same_as<bool>;
  { e.recv() } -> std::same_as<received>;
  e.release(message);
  e.flush();
  { e.idle(vote) } -> std::same_as<idle_result>;
  { e.idle(vote, std::uint64_t{}, plus{}) } -> std::same_as<idle_value<std::uint64_t>>;
  e.leave();
  { c.statistics() } -> std::same_as<endpoint_statistics>;
};

}  // namespace tutti
