// SPDX-License-Identifier: Apache-2.0
// The endpoint of a communicator with one participant: nothing ever arrives, and the only
// participant decides alone. With it a vertex program runs sequentially in exactly the way it runs
// on many participants: requested sends are sent and received, and only a second, unanimous idle()
// ends the run.
#pragma once

#include <chrono>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

class solo_endpoint {
 public:
  rank_t rank() const noexcept { return 0; }
  rank_t size() const noexcept { return 1; }

  // The engine delivers messages to its own vertices itself, and there is no other participant.
  bool can_send(rank_t) const noexcept { return false; }
  void send(rank_t, const void*, std::size_t) const {
    refuse("a participant without others has nobody to send to");
  }
  template <class T>
  void send(rank_t to, const T& value) const {
    send(to, &value, sizeof value);
  }
  bool try_send(rank_t, const void*, std::size_t) const noexcept { return false; }
  template <class OnMessage>
  void send_wait(rank_t to, const void* data, std::size_t bytes, OnMessage&&) const {
    send(to, data, bytes);
  }
  template <class T, class OnMessage>
  void send_wait(rank_t to, const T& value, OnMessage&&) const {
    send(to, &value, sizeof value);
  }
  template <class Rep, class Period, class OnMessage>
  bool send_wait_for(rank_t, const void*, std::size_t, std::chrono::duration<Rep, Period>,
                     OnMessage&&) const noexcept {
    return false;
  }
  bool can_recv() const noexcept { return false; }
  received recv() const { refuse("a participant without others receives nothing"); }
  void release(const received&) const noexcept {}
  void flush() const noexcept {}
  void leave() const noexcept {}

  idle_result idle(bool vote) noexcept {
    ++counted_.episodes;
    return vote ? idle_result::unanimous : idle_result::idle;
  }
  template <class T, class Op>
  idle_value<T> idle(bool vote, const T& value, Op) noexcept {
    return {idle(vote), value};
  }
  endpoint_statistics statistics() const noexcept { return counted_; }

 private:
  endpoint_statistics counted_;
};

static_assert(endpoint_like<solo_endpoint>);

}  // namespace tutti::graph
