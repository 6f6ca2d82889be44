// SPDX-License-Identifier: Apache-2.0
// Active messages: each message names a handler, which its receiver runs. Handlers may send, and no
// program of them can deadlock for want of room.
//
//   tutti::active_messages active(comm[r]);  // on the thread of rank r
//   const auto answer = active.on<double>([&](rank_t from, double x) { sum += x; });
//   const auto ask = active.on<int>([&](rank_t from, int i) { active.send(from, answer, f(i)); });
//   active.send(3, ask, 7);       // waits for room, and runs handlers meanwhile
//   active.idle(true);            // runs handlers until all are done
//
// A handler given to on() runs as soon as its message is received, inside send(), poll() or
// idle(). What it sends never waits: a message that finds no room is kept here and goes out later.
// A handler given to on_later() runs outside of every wait, in poll() or idle(), on a copy of its
// message; its sends wait for room.
//
// Why it cannot deadlock: (1) The layer releases each message before it waits: a handler of on() is
// never followed by a wait before the release, and a handler of on_later() works on a copy. (2) So
// a participant that waits, for room or in idle(), holds nothing and receives and releases all that
// comes. (3) So each ring whose reader waits gets room. A cycle of participants that wait for each
// other's room would consist of readers that wait. The wait for room itself is that of the endpoint
// (send_wait), which the model checker runs together with this layer. What remains is the program's
// part: handlers return, and each participant comes to send(), poll() or idle() again.
//
// Memory     Messages that are kept, and copies for on_later(), take memory without a limit:
//            as much as handlers of on() send at once, and as much as comes for on_later().
// Order      Messages from one participant to another arrive in the order in which they were sent,
//            and their handlers of one kind run in this order.
// Episodes   While messages are kept or wait for on_later(), the participant is not idle.
// Rules      All participants register the same handlers in the same order before the first message
//            arrives, and use their endpoints only by this layer. No handler may call idle(); one
//            of on() may call nothing but send(). An exception that a handler throws comes out of
//            the call that ran it; its message counts as handled.
// Source     von Eicken et al., "Active messages" (1992), for the idea.
// Hosted only: it needs exceptions, std::deque and std::vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/message/received.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

// The number of a handler that takes values of type T, or bytes if T is void.
template <class T>
struct active_handler {
  std::uint32_t number = 0;
};

template <endpoint_like Endpoint>
class active_messages {
  using bytes = std::span<const std::byte>;

 public:
  explicit active_messages(Endpoint& me) : me_(me), kept_for_(me.size()) {}
  active_messages(const active_messages&) = delete;
  active_messages& operator=(const active_messages&) = delete;

  rank_t rank() const noexcept { return me_.rank(); }
  rank_t size() const noexcept { return me_.size(); }

  // Registers function(source, value), which runs inside of waits.
  template <class T, class Function>
  active_handler<T> on(Function function) {
    return {add<T>(std::move(function), false)};
  }
  // Registers function(source, value), which runs outside of waits, on a copy of the message.
  template <class T, class Function>
  active_handler<T> on_later(Function function) {
    return {add<T>(std::move(function), true)};
  }
  // The same for messages of any size: function(source, std::span<const std::byte>). The bytes are
  // valid until the function returns.
  template <class Function>
  active_handler<void> on_bytes(Function function) {
    return {add<void>(std::move(function), false)};
  }
  template <class Function>
  active_handler<void> on_bytes_later(Function function) {
    return {add<void>(std::move(function), true)};
  }

  // Sends a message for that handler. Waits for room, and runs handlers of on() meanwhile; inside
  // of such a handler it keeps what finds no room.
  // Throws std::runtime_error if the receiver has left.
  template <class T>
  void send(rank_t to, active_handler<T> handler, const std::type_identity_t<T>& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    std::byte framed[sizeof(head) + sizeof(T)];
    frame(framed, handler.number, &value, sizeof(T));
    send_framed(to, {framed, sizeof framed});
  }
  void send(rank_t to, active_handler<void> handler, const void* data, std::size_t size) {
    std::vector<std::byte> framed(sizeof(head) + size);
    frame(framed.data(), handler.number, data, size);
    send_framed(to, framed);
  }

  // Runs the handlers of all messages that are here, and sends what was kept. Returns whether there
  // was anything to do.
  bool poll() {
    refuse_inside_immediate("poll()");
    bool has_worked = receive_all();
    if (is_running_later_) return has_worked;
    for (; has_work(); has_worked = true) work();
    me_.flush();
    return has_worked;
  }

  // Runs handlers until all participants are idle and no message is under way, kept, or waits for a
  // handler. `vote` is a bool, or a function that is asked each time before this participant
  // becomes idle, since a handler may change what it would say; it may send. It returns `idle` or
  // `unanimous`.
  template <class Vote>
  idle_result idle(Vote vote) {
    return until_released(
        vote, [&](bool said) { return me_.idle(said); }, [](idle_result r) { return r; });
  }
  // The same with a value for the reduction of the episode.
  template <class Vote, class T, class Op>
  idle_value<T> idle(Vote vote, const T& value, Op op) {
    return until_released(
        vote, [&](bool said) { return me_.idle(said, value, op); },
        [](const idle_value<T>& r) { return r.result; });
  }

  // The messages that handlers have sent and that have not found room yet, and those that wait for
  // handlers of on_later().
  std::size_t kept() const noexcept { return kept_.size(); }
  std::size_t waiting() const noexcept { return later_.size(); }

 private:
  using head = std::uint32_t;

  struct handler_base {
    virtual ~handler_base() = default;
    virtual void run(rank_t source, bytes content) = 0;
  };
  template <class T, class Function>
  struct handler_of final : handler_base {
    explicit handler_of(Function f) : function(std::move(f)) {}
    void run(rank_t source, bytes content) override {
      if constexpr (std::is_void_v<T>) {
        function(source, content);
      } else {
        if (content.size() != sizeof(T))
          refuse("a handler for values of " + std::to_string(sizeof(T)) +
                 " bytes gets a message of " + std::to_string(content.size()) +
                 " bytes: all participants must register the same handlers in the same order");
        T value;
        std::memcpy(&value, content.data(), sizeof(T));
        function(source, std::as_const(value));
      }
    }
    Function function;
  };
  struct registered {
    std::unique_ptr<handler_base> handler;
    bool is_later = false;
  };
  struct kept_message {
    rank_t to = 0;
    std::vector<std::byte> content;
  };
  struct waiting_message {
    rank_t source = 0;
    head handler = 0;
    std::vector<std::byte> content;
  };
  // Adds one to a number for a scope.
  class during {
   public:
    explicit during(unsigned& depth) : depth_(depth) { ++depth_; }
    ~during() { --depth_; }
    during(const during&) = delete;
    during& operator=(const during&) = delete;

   private:
    unsigned& depth_;
  };

  template <class T, class Function>
  head add(Function function, bool is_later) {
    handlers_.push_back({std::make_unique<handler_of<T, Function>>(std::move(function)), is_later});
    return static_cast<head>(handlers_.size() - 1);
  }

  static void frame(std::byte* to, head number, const void* data, std::size_t size) {
    std::memcpy(to, &number, sizeof number);
    if (size != 0) std::memcpy(to + sizeof number, data, size);
  }

  void send_framed(rank_t to, bytes content) {
    if (to >= size())
      refuse("rank " + std::to_string(to) + " is out of range for active messages between " +
             std::to_string(size()) + " participants");
    if (is_handling_ != 0) return send_or_keep(to, content);
    send_kept();
    wait_and_send(to, content);
  }

  // Sends at once if nothing that was sent to `to` before is kept or waits.
  void send_or_keep(rank_t to, bytes content) {
    if (kept_for_[to] == 0 && me_.try_send(to, content.data(), content.size())) return;
    kept_.push_back({to, {content.begin(), content.end()}});
    ++kept_for_[to];
  }

  // Handlers that run meanwhile keep what they send to the same participant, so that it stays
  // behind this message.
  void wait_and_send(rank_t to, bytes content) {
    if (me_.try_send(to, content.data(), content.size())) return;
    ++kept_for_[to];
    const auto take = [this](const received& message) { handle(message); };
    try {
      me_.send_wait(to, content.data(), content.size(), take);
    } catch (...) {
      --kept_for_[to];
      throw;
    }
    --kept_for_[to];
  }

  void send_kept() {
    while (!kept_.empty()) {
      // A deque's elements stay where they are while handlers append others. This one is removed
      // only after it is sent, so that later ones stay behind it.
      const kept_message& first = kept_.front();
      wait_and_send(first.to, first.content);
      --kept_for_[first.to];
      kept_.pop_front();
    }
  }

  bool has_work() const noexcept { return !kept_.empty() || !later_.empty(); }
  void work() {
    send_kept();
    if (later_.empty()) return;
    const waiting_message next = std::move(later_.front());
    later_.pop_front();
    const during scope(is_running_later_);
    handlers_[next.handler].handler->run(next.source, next.content);
  }

  bool receive_all() {
    bool has_received = false;
    for (; me_.can_recv(); has_received = true) {
      const received message = me_.recv();
      try {
        handle(message);
      } catch (...) {
        me_.release(message);
        throw;
      }
      me_.release(message);
    }
    return has_received;
  }

  void handle(const received& message) {
    head number = 0;
    if (message.size >= sizeof number) std::memcpy(&number, message.data, sizeof number);
    if (message.size < sizeof number || number >= handlers_.size())
      refuse("rank " + std::to_string(rank()) + " has no handler for a message of rank " +
             std::to_string(message.source) +
             ": all participants must register the same handlers in the same order, and send only "
             "active messages");
    const bytes content = message.bytes().subspan(sizeof number);
    registered& it = handlers_[number];
    if (it.is_later) {
      later_.push_back({message.source, number, {content.begin(), content.end()}});
      return;
    }
    const during scope(is_handling_);
    it.handler->run(message.source, content);
  }

  template <class Vote, class Idle, class ResultOf>
  auto until_released(Vote& vote, Idle idle, ResultOf result_of) {
    refuse_inside_immediate("idle()");
    if (is_running_later_ != 0) refuse_inside("idle()");
    for (;;) {
      const auto now = idle(vote_without_work(vote));
      if (result_of(now) != idle_result::message) return now;
      receive_all();
    }
  }

  // Works until nothing is kept or waits, and returns the vote. If the vote is a function that
  // sends, its sends may leave work, and then it is asked again.
  template <class Vote>
  bool vote_without_work(Vote& vote) {
    for (;;) {
      while (has_work()) work();
      if constexpr (std::is_invocable_v<Vote&>) {
        const bool said = vote();
        if (!has_work()) return said;
      } else {
        return vote;
      }
    }
  }

  void refuse_inside_immediate(const char* call) const {
    if (is_handling_ != 0) refuse_inside(call);
  }
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_inside(const char* call) const {
    refuse("rank " + std::to_string(rank()) + " calls " + call +
           " from a handler of active messages; handlers may only send");
  }

  Endpoint& me_;
  std::vector<registered> handlers_;
  std::deque<kept_message> kept_;
  // By receiver: the messages that are kept or wait for room.
  std::vector<std::uint32_t> kept_for_;
  std::deque<waiting_message> later_;
  // Inside a handler of on(), or of on_later().
  unsigned is_handling_ = 0;
  unsigned is_running_later_ = 0;
};

}  // namespace tutti
