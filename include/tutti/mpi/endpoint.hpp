// SPDX-License-Identifier: Apache-2.0
// One participant of a communicator across processes. comm/endpoint_concept.hpp says what it
// does; communicator.hpp makes it. One thread at a time uses it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "tutti/barrier/timed.hpp"
#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/comm/held_message_check.hpp"
#include "tutti/mpi/operation_number.hpp"
#include "tutti/mpi/packet_endpoint.hpp"
#include "tutti/mpi/shared_endpoint.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::mpi {

class endpoint {
 public:
  // `room` is that of the participants of this node; null: all messages travel as packets of MPI.
  endpoint(process& mine, shared_room* room, std::uint32_t thread, std::size_t ring_bytes)
      : rank_(mine.where().participants[mine.index()][thread]), size_(mine.participants()) {
    if (room != nullptr && mine.is_one_node())
      shared_ = std::make_unique<shared_endpoint>(mine, *room, thread, ring_bytes);
    else
      packets_ = std::make_unique<packet_endpoint>(mine, thread, room, ring_bytes);
  }

  rank_t rank() const noexcept { return rank_; }
  rank_t size() const noexcept { return size_; }

  // Whether there is room for one message of up to inline_message bytes. Never blocks.
  bool can_send(rank_t to, call_site where = call_site::here()) {
    check_rank(to);
    const bool has_room = is_shared() ? shared_->can_send(to) : packets_->can_send(to);
    note_question(to, has_room, where);
    return has_room;
  }
  // Sends a message of any size below 4 GiB. Returns false if there is no room now. Throws
  // std::invalid_argument for a larger message.
  bool try_send(rank_t to, const void* data, std::size_t bytes,
                call_site where = call_site::here()) {
    check_rank(to);
    require_message_size(bytes);
    const bool is_sent =
        is_shared() ? shared_->try_send(to, data, bytes) : packets_->try_send(to, data, bytes);
    note_question(to, is_sent, where);
    return is_sent;
  }
  // Throws std::invalid_argument if there is no room: ask can_send() first, or use try_send().
  void send(rank_t to, const void* data, std::size_t bytes) {
    if (!try_send(to, data, bytes)) [[unlikely]]
      report_no_room(to);
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> &&
      (!std::is_pointer_v<T>)void send(rank_t to, const T& value) {
    send(to, &value, sizeof(T));
  }

  // Waits for room. Passes each message that arrives meanwhile to on_message(const received&) and
  // then releases it.
  // Throws std::invalid_argument if on_message calls it, or if this participant holds messages.
  // Throws std::runtime_error if another process has died or left, or if an episode is over that
  // idle() has to report first.
  template <class OnMessage>
  void send_wait(rank_t to, const void* data, std::size_t bytes, OnMessage&& on_message) {
    send_by(to, data, bytes, on_message, platform::forever_ns);
  }
  template <class T, class OnMessage>
  requires std::is_trivially_copyable_v<T> &&
      (!std::is_pointer_v<T>)void send_wait(rank_t to, const T& value, OnMessage&& on_message) {
    send_by(to, &value, sizeof(T), on_message, platform::forever_ns);
  }

  // The same for at most `timeout`. Returns false if there was no room until then; nothing is sent.
  template <class Rep, class Period, class OnMessage>
  [[nodiscard]] bool send_wait_for(rank_t to, const void* data, std::size_t bytes,
                                   std::chrono::duration<Rep, Period> timeout,
                                   OnMessage&& on_message) {
    return send_by(to, data, bytes, on_message, deadline_after<native>(timeout).ns());
  }
  template <class T, class Rep, class Period, class OnMessage>
  requires std::is_trivially_copyable_v<T> &&(!std::is_pointer_v<T>)
      [[nodiscard]] bool send_wait_for(rank_t to, const T& value,
                                       std::chrono::duration<Rep, Period> timeout,
                                       OnMessage&& on_message) {
    return send_by(to, &value, sizeof(T), on_message, deadline_after<native>(timeout).ns());
  }

  // Whether recv() would return a message. Never blocks.
  bool can_recv() { return is_shared() ? shared_->can_recv() : packets_->can_recv(); }
  // Precondition: can_recv(), or idle() has just returned `message`.
  received recv(call_site where = call_site::here()) {
    if (where.checks() && !can_recv())
      refuse("rank " + std::to_string(rank()) + " calls recv() without a message to receive");
    return is_shared() ? shared_->recv() : packets_->recv();
  }
  // Gives a received message's room back. Its bytes are then no longer valid.
  void release(const received& message, call_site where = call_site::here()) {
    is_shared() ? shared_->release(message) : packets_->release(message);
    if (where.checks()) asks_for_room_.released([this] { return held(); });
  }
  // Makes all messages sent so far visible to their receivers.
  void flush() { is_shared() ? shared_->flush() : packets_->flush(); }

  // Throws std::runtime_error if another process has died or left, or if MPI reports an error.
  idle_result idle(bool vote) {
    protocol::contribution given;
    given.vote = vote ? 1 : 0;
    return result_of(wait(given, platform::forever_ns, nullptr), given);
  }

  // The values have at most 16 bytes, the operations have no state, and the order is that of all
  // reductions (schedule::fold). With packets the detection carries the values if every process has
  // the same power of two of participants. Other shapes cost one additional message to process 0
  // and one back.
  template <class T, class Op>
  idle_value<T> idle(bool vote, const T& value, Op) {
    const auto given = contribution_of<T, Op>(vote, value);
    const auto done = wait(given, platform::forever_ns, nullptr);
    if (!done) return {idle_result::message, value};
    return {result_of(done, given), canonical(static_cast<T>(done->value))};
  }

  // The same for at most `timeout`. If the time passes, the result says which participants are
  // missing. A process that does not check its messages for a tenth of a second counts as running.
  template <class Rep, class Period>
  [[nodiscard]] timed_idle idle_for(bool vote, std::chrono::duration<Rep, Period> timeout) {
    protocol::contribution given;
    given.vote = vote ? 1 : 0;
    timed_idle result;
    const auto done = wait(given, deadline_after<native>(timeout).ns(), &result.missing);
    result.in_time = done || can_recv();
    if (result.in_time) result.missing.clear();
    result.result = result_of(done, given);
    return result;
  }

  // Declares that this participant will not call idle() again. Participants that wait in idle(), or
  // call it later, get a std::runtime_error that names it.
  void leave() { is_shared() ? shared_->leave() : packets_->leave(); }

  // The counts since the endpoint was made.
  endpoint_statistics statistics() const noexcept {
    return is_shared() ? shared_->statistics() : packets_->statistics();
  }

 private:
  template <class OnMessage>
  bool send_by(rank_t to, const void* data, std::size_t bytes, OnMessage& on_message,
               std::uint64_t deadline_ns) {
    return try_send(to, data, bytes) || wait_to_send(to, data, bytes, on_message, deadline_ns);
  }

  template <class OnMessage>
  [[gnu::noinline]] bool wait_to_send(rank_t to, const void* data, std::size_t bytes,
                                      OnMessage& on_message, std::uint64_t deadline_ns) {
    if (is_sending_) refuse_nested("send_wait()");
    require_nothing_held(to);
    const sending mine(is_sending_);
    if (!is_shared()) packets_->begin_wait_for_room();
    for (bool in_time = true;;) {
      // Other participants may wait for packets that have not left yet.
      flush();
      while (has_message()) hand_over(on_message);
      if (try_send(to, data, bytes)) return true;
      if (!in_time) return false;
      // on_message may have kept a message.
      require_nothing_held(to);
      in_time = is_shared() ? shared_->wait_for_room(to, bytes, deadline_ns)
                            : packets_->wait_for_room(to, deadline_ns);
    }
  }
  bool has_message() { return is_shared() ? shared_->has_message() : packets_->can_recv(); }
  template <class OnMessage>
  void hand_over(OnMessage& on_message) {
    const received message = recv(call_site{});
    try {
      on_message(message);
    } catch (...) {
      release(message);
      throw;
    }
    release(message);
  }
  class sending {
   public:
    explicit sending(bool& is_sending) noexcept : is_sending_(is_sending) { is_sending_ = true; }
    ~sending() { is_sending_ = false; }
    sending(const sending&) = delete;
    sending& operator=(const sending&) = delete;

   private:
    bool& is_sending_;
  };
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_nested(const char* call) const {
    refuse("rank " + std::to_string(rank()) + " calls " + call +
           " from the function that send_wait() calls with messages; it may only receive and call "
           "try_send()");
  }
  void require_nothing_held(rank_t to) const {
    if (held() != 0)
      refuse("rank " + std::to_string(rank()) + " holds " + std::to_string(held()) +
             " messages while it waits for room to send to rank " + std::to_string(to) +
             ": two ranks that do so can wait for each other for ever. Release the messages first");
  }

  std::uint64_t held() const noexcept { return is_shared() ? shared_->held() : packets_->held(); }
  // The function that send_wait() calls holds the message at hand; it may ask once for each.
  void note_question(rank_t to, bool has_room, call_site where) {
    if (where.checks() && !is_sending_)
      asks_for_room_.asked(
          rank(), to, has_room, [this] { return held(); }, where);
  }

  bool is_shared() const noexcept { return shared_ != nullptr; }
  std::optional<protocol::outcome> wait(const protocol::contribution& given,
                                        std::uint64_t deadline_ns, std::vector<absentee>* missing) {
    if (is_sending_) [[unlikely]]
      refuse_nested("idle()");
    return is_shared() ? shared_->idle(given, deadline_ns, missing)
                       : packets_->idle(given, deadline_ns, missing);
  }
  static idle_result result_of(const std::optional<protocol::outcome>& done,
                               const protocol::contribution& given) {
    if (!done) return idle_result::message;
    if (done->mismatched)
      refuse("the participants of one idle() gave values of different types or operations");
    if (done->operation != given.operation)
      refuse("an idle_for() whose deadline had passed has ended the episode, without a value");
    return done->unanimous ? idle_result::unanimous : idle_result::idle;
  }
  void check_rank(rank_t to) const {
    if (to >= size())
      refuse("rank " + std::to_string(to) + " is out of range for a communicator of " +
             std::to_string(size()) + " participants");
  }
  [[gnu::noinline, gnu::cold]] void report_no_room(rank_t to) const {
    refuse("rank " + std::to_string(rank()) + " sends to rank " + std::to_string(to) +
           " without room: ask can_send() first, or use try_send()");
  }

  rank_t rank_;
  rank_t size_;
  std::unique_ptr<shared_endpoint> shared_;
  // Exactly one of shared_ and packets_ is set.
  std::unique_ptr<packet_endpoint> packets_;
  // Inside send_wait(), which has found no room so far.
  bool is_sending_ = false;
  held_message_check asks_for_room_;
};

}  // namespace tutti::mpi
