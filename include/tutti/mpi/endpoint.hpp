// SPDX-License-Identifier: Apache-2.0
// One participant of a communicator across processes. detect/endpoint_concept.hpp says what it does, communicator.hpp makes
// it. Used by one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "tutti/barrier/timed.hpp"
#include "tutti/detect/endpoint_concept.hpp"
#include "tutti/mpi/operation_number.hpp"
#include "tutti/mpi/packet_endpoint.hpp"
#include "tutti/mpi/shared_endpoint.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::mpi {

class endpoint {
 public:
  // `room`: null if messages travel as packets of MPI.
  endpoint(process& mine, shared_room* room, std::uint32_t thread, std::size_t ring_bytes)
      : rank_(mine.where().participants[mine.index()][thread]), size_(mine.participants()) {
    if (room != nullptr)
      shared_ = std::make_unique<shared_endpoint>(mine, *room, thread, ring_bytes);
    else
      packets_ = std::make_unique<packet_endpoint>(mine, thread);
  }

  rank_t rank() const noexcept { return rank_; }
  rank_t size() const noexcept { return size_; }

  bool can_send(rank_t to) {
    check_rank(to);
    return is_shared() ? shared_->can_send(to) : packets_->can_send(to);
  }
  bool try_send(rank_t to, const void* data, std::size_t bytes) {
    check_rank(to);
    require_message_size(bytes);
    return is_shared() ? shared_->try_send(to, data, bytes) : packets_->try_send(to, data, bytes);
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

  bool can_recv() { return is_shared() ? shared_->can_recv() : packets_->can_recv(); }
  received recv() {
    if constexpr (TUTTI_CHECKS != 0)
      if (!can_recv())
        refuse("rank " + std::to_string(rank()) + " calls recv() without a message to receive");
    return is_shared() ? shared_->recv() : packets_->recv();
  }
  void release(const received& message) {
    is_shared() ? shared_->release(message) : packets_->release(message);
  }
  void flush() { is_shared() ? shared_->flush() : packets_->flush(); }

  // Throws std::runtime_error if another process has died or left, or MPI reports an error.
  idle_result idle(bool vote) {
    protocol::contribution given;
    given.vote = vote ? 1 : 0;
    return result_of(wait(given, platform::forever_ns, nullptr), given);
  }

  // Values of at most 16 bytes; operations without a state; the order of all reductions (schedule::fold). Packets bring the
  // values along with the detection where every process has the same power of two of participants; other shapes cost one
  // message to process 0 and one back more.
  template <class T, class Op>
  idle_value<T> idle(bool vote, const T& value, Op) {
    const auto given = contribution_of<T, Op>(vote, value);
    const auto done = wait(given, platform::forever_ns, nullptr);
    if (!done) return {idle_result::message, value};
    return {result_of(done, given), canonical(static_cast<T>(done->value))};
  }

  // The same, no longer than `timeout`; then it tells who is missing. A process that does not look at its messages for a
  // tenth of a second counts as running.
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

  endpoint_statistics statistics() const noexcept {
    return is_shared() ? shared_->statistics() : packets_->statistics();
  }

 private:
  bool is_shared() const noexcept { return shared_ != nullptr; }
  std::optional<protocol::outcome> wait(const protocol::contribution& given,
                                        std::uint64_t deadline_ns, std::vector<absentee>* missing) {
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
    if constexpr (TUTTI_CHECKS != 0)
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
  std::unique_ptr<packet_endpoint> packets_;  // one of the two
};

}  // namespace tutti::mpi
