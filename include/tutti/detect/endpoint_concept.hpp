// SPDX-License-Identifier: Apache-2.0
// What every endpoint offers, whatever carries the messages and detects termination: threads of one process
// (communicator.hpp) or MPI (mpi/communicator.hpp). Programs written against `endpoint_like` run on each of them.
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
//     if (now == tutti::idle_result::message) continue;      // a message has come: the vote is withdrawn
//     if (now == tutti::idle_result::unanimous) break;       // everybody is idle and voted true, nothing is in flight
//     next_time_step();                                      // everybody is idle, nothing is in flight
//   }
//
// Source: Naylor et al., "Termination detection for fine-grained message-passing architectures", ASAP 2020, section III;
// the values are those of its tinselIdle().
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

// Why idle() returned. Greater than `message`: all are idle and nothing is in flight.
enum class idle_result : unsigned {
  message = 0,    // a message can be received here; the vote is withdrawn
  idle = 1,       // all idle, nothing in flight; somebody voted false
  unanimous = 3,  // the same, and everybody voted true
};

// What idle() with a value returns. Without a release (`message`) the value is the caller's own.
template <class T>
struct idle_value {
  idle_result result = idle_result::message;
  T value{};
};

// Why an episode of idle() is not over.
enum class absence : std::uint8_t {
  running,  // has not called idle(), or was woken by a message and has not called it again
  holding,  // has received messages and not released them
  gone,     // has left: it will never call idle() again
};

struct absentee {
  rank_t rank = 0;
  absence why = absence::running;
  std::uint64_t messages = 0;  // holding: received and not released, as of its last idle()
};

// What idle() with a deadline returns. False if it has passed: then this participant counts as running again, and the
// endpoint may be used on, idle() included. The vote is withdrawn, with one exception: where participants report to each
// other (star, tree, ring, waves; all across processes) a report that is under way cannot be unsaid. Until it is answered
// can_send() and can_recv() are false; if it ends the episode, its vote has counted, and the next idle() returns that end.
struct timed_idle {
  bool in_time = false;
  idle_result result = idle_result::message;  // if in time
  std::vector<absentee> missing;              // if late: who keeps the episode from ending
  explicit operator bool() const noexcept { return in_time; }
};

// Of one endpoint, since it was made. Messages to oneself are counted apart.
struct endpoint_statistics {
  std::uint64_t sent = 0;         // messages to others
  std::uint64_t received = 0;     // messages from others
  std::uint64_t self = 0;         // messages to oneself
  std::uint64_t episodes = 0;     // times idle() returned 1 or 3
  std::uint64_t refutations = 0;  // times a message woke idle()
  std::uint64_t waves =
      0;  // attempts at detection that this participant began, failed ones included
  std::uint64_t idle_ns = 0;  // spent in idle(); 0 unless the time is asked for (options)
};

// received::size has 32 bits. Throws std::invalid_argument.
inline void require_message_size(std::size_t bytes) {
  if (bytes > UINT32_MAX) [[unlikely]]
    refuse("a message of " + std::to_string(bytes) + " bytes: at most 4294967295 are possible");
}

// One participant's end of a communicator. Used by one thread (or fiber) at a time.
//
//   can_send(to)      room for one message of up to 64 bytes; never blocks. While there is none, receive.
//   send(to, value)   precondition: can_send(to). Copies; the value may be overwritten at once.
//   try_send          the same for any size, with the question built in: false means no room now, receive and try again
//   send_wait(to, value, on_message)   waits for room as idle() waits, and hands each message that arrives meanwhile to
//                     on_message(const received&), which it then releases. So participants that are full of messages for
//                     each other go on, however slow one of them is.
//   send_wait_for(to, value, timeout, on_message)   the same, no longer than that; false: there was no room, nothing is sent
//   can_recv()        whether recv() would give a message; so it does after idle() has returned `message`
//   recv, release     a message is delivered when it is received and released. In any order, several at a time.
//   flush()           makes batched messages visible. idle() does so itself, and a can_recv() that finds nothing again.
//   idle(vote)        blocks until a message can be received here, or everybody is idle and nothing is in flight
//   idle(vote, value, op)   the same; at a release everybody gets op over all values, in the order of all reductions
//                     (schedule::fold). All participants of an episode pass the same type and operation:
//                     idle() without a value, or with a deadline, must not meet with it.
//
// Who waits for room holds no message: what is received and not released keeps the room of all that came after it, so two
// who wait for each other with a message in hand wait for ever, though both receive. Release first, then wait (copy what is
// still needed). With checks, and between processes, send_wait() without room refuses who holds one.
//
// In on_message: try_send(), can_send(), and receiving more. What finds no room there is kept by the program until
// send_wait() has returned: neither send_wait() nor idle() may be called from there. (Waits inside waits would grow the stack
// with each message that arrives.) While it waits a participant is not idle: no episode ends, and no vote of its counts. A
// message handled there is received and released as any other, so a vote is decided after send_wait(), not before.
//
// Messages from one participant to another arrive in the order in which they were sent.
//
// Memory ordering: what a participant does before it sends a message happens before what its receiver does after recv().
// What anybody does before idle() happens before what everybody does after the release.
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
  { c.statistics() } -> std::same_as<endpoint_statistics>;
};

}  // namespace tutti
