// SPDX-License-Identifier: Apache-2.0
// Endpoint: one participant of a communicator within one process. endpoint_concept.hpp says what it
// does; communicator.hpp makes it.
//
// Participants see a release one after another, and one that has seen it may send in the next
// episode. No participant takes such a message before it has left the current episode: the sender
// has seen the release before it sends, so a participant that sees the message sees the release as
// well. A waiter that finds a message therefore checks the release word before it acts on the
// message (docs/messages.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/timed.hpp"
#include "tutti/comm/any_wait.hpp"
#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/comm/exclusive_use_check.hpp"
#include "tutti/comm/given_value.hpp"
#include "tutti/comm/held_message_check.hpp"
#include "tutti/comm/message_predictor.hpp"
#include "tutti/comm/shared_state.hpp"
#include "tutti/message/mailbox.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/reduce/raw_value.hpp"
#include "tutti/termination/any_detector.hpp"

namespace tutti {

// The largest value that idle() combines, in bytes.
inline constexpr std::size_t largest_idle_value = 256;

// `Detector` is any_detector or one detector class.
template <class Memory, class Wait, class Detector, class Slot = raw_value<largest_idle_value>>
class basic_endpoint {
  using site = call_site;

 public:
  using shared = shared_state<Memory, Wait, Detector, Slot>;
  using wake = typename wait_points<Memory, Wait>::waker;
  using places = std::vector<ring_place<Memory>>;

  basic_endpoint(rank_t rank, shared& all, const places& to, const places& from, std::size_t batch,
                 bool time_idle)
      : box_(rank, to, from, batch, wake(all.entrance)),
        all_(all),
        mine_(all.of(rank)),
        time_idle_(time_idle) {}
  basic_endpoint(const basic_endpoint&) = delete;
  basic_endpoint& operator=(const basic_endpoint&) = delete;

  rank_t rank() const noexcept { return box_.rank(); }
  rank_t size() const noexcept { return box_.size(); }

  // ---- messages

  // Whether there is room for one message of up to inline_message bytes. Never blocks.
  bool can_send(rank_t to, site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    check_rank(to, where);
    const bool has_room = box_.can_send(to) || (is_free_again() && box_.can_send(to));
    note_question(to, has_room, where);
    return has_room;
  }

  // Throws std::invalid_argument if there is no room or if the message has 4 GiB or more, even in
  // builds without checks: a message is never lost.
  void send(rank_t to, const void* data, std::size_t bytes, site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    check_rank(to, where);
    require_message_size(bytes);
    if (!box_.try_send(to, data, bytes)) [[unlikely]]
      report_no_room(to, where);
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> &&
      (!std::is_pointer_v<T>)void send(rank_t to, const T& value, site where = site::here()) {
    send(to, &value, sizeof(T), where);
  }

  // Sends a message of any size below 4 GiB. Returns false if there is no room now. Throws
  // std::invalid_argument for a larger message.
  bool try_send(rank_t to, const void* data, std::size_t bytes, site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    check_rank(to, where);
    require_message_size(bytes);
    const bool is_sent =
        box_.try_send(to, data, bytes) || (is_free_again() && box_.try_send(to, data, bytes));
    note_question(to, is_sent, where);
    return is_sent;
  }

  // Waits for room and sends as soon as there is some. It waits as idle() waits. Messages that
  // arrive meanwhile are passed to on_message(const received&) and released when it returns or
  // throws. endpoint_concept.hpp has the rules.
  // Throws std::invalid_argument if on_message calls it and there is no room, or if there is no
  // room in the ring to this participant itself because it holds messages that it has received.
  // Throws std::runtime_error if `to` has left, or if an episode is over that idle() has to report
  // first.
  template <class OnMessage>
  void send_wait(rank_t to, const void* data, std::size_t bytes, OnMessage&& on_message,
                 site where = site::here()) {
    send_by(to, data, bytes, on_message, no_deadline{}, where);
  }
  template <class T, class OnMessage>
  requires std::is_trivially_copyable_v<T> &&
      (!std::is_pointer_v<T>)void send_wait(rank_t to, const T& value, OnMessage&& on_message,
                                            site where = site::here()) {
    send_by(to, &value, sizeof(T), on_message, no_deadline{}, where);
  }

  // The same for at most `timeout`. Returns false if there was no room until then; nothing is sent.
  template <class Rep, class Period, class OnMessage>
  [[nodiscard]] bool send_wait_for(rank_t to, const void* data, std::size_t bytes,
                                   std::chrono::duration<Rep, Period> timeout,
                                   OnMessage&& on_message, site where = site::here()) {
    return send_by(to, data, bytes, on_message, deadline_after<Memory>(timeout), where);
  }
  template <class T, class Rep, class Period, class OnMessage>
  requires std::is_trivially_copyable_v<T> &&(!std::is_pointer_v<T>)
      [[nodiscard]] bool send_wait_for(rank_t to, const T& value,
                                       std::chrono::duration<Rep, Period> timeout,
                                       OnMessage&& on_message, site where = site::here()) {
    return send_by(to, &value, sizeof(T), on_message, deadline_after<Memory>(timeout), where);
  }

  // Whether recv() would return a message. Never blocks.
  bool can_recv(site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    return box_.can_recv() || (is_free_again() && box_.can_recv());
  }

  // Precondition: can_recv(), or idle() has just returned `message`.
  received recv(site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    if (where.checks() && !box_.can_recv()) {
      report_no_message(where);
      return {};
    }
    return box_.recv();
  }

  // Gives a received message's room back. Its bytes are then no longer valid.
  void release(const received& message, site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    const bool is_mine = message.source < size() && box_.release(message);
    if (where.checks() && !is_mine) report_release(message, where);
    if (where.checks()) asks_for_room_.released([this] { return box_.held(); });
  }

  // Makes all messages sent so far visible to their receivers.
  void flush(site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    box_.flush();
  }

  // ---- idle
  //
  // These functions throw std::runtime_error once a participant has left: no episode can end any
  // more.

  // Blocks until a message can be received here, or until the episode ends.
  idle_result idle(bool vote, site where = site::here()) {
    return result_of(wait_idle(vote, detail::no_given_value{}, no_deadline{}, where));
  }

  // The same. If the episode ends, `value` is op over the values of all participants, in the order
  // of all reductions. T has at most largest_idle_value bytes.
  template <class T, class Op>
  idle_value<T> idle(bool vote, const T& value, Op op, site where = site::here()) {
    idle_value<T> got{idle_result::message, value};
    got.result =
        result_of(wait_idle(vote, detail::given_value<T, Op>{got.value, op}, no_deadline{}, where));
    return got;
  }

  // The same for at most `timeout`. If the time passes, the result says which participants are
  // missing.
  template <class Rep, class Period>
  [[nodiscard]] timed_idle idle_for(bool vote, std::chrono::duration<Rep, Period> timeout,
                                    site where = site::here()) {
    const ending how =
        wait_idle(vote, detail::no_given_value{}, deadline_after<Memory>(timeout), where);
    if (how == ending::late)
      return {false, idle_result::message, all_.missing(rank(), episode_ + 1)};
    return {true, result_of(how), {}};
  }

  // Declares that this participant will not call idle() again. Participants that wait in idle(), or
  // call it later, get a std::runtime_error that names this rank.
  void leave(site where = site::here()) {
    const auto guard = in_use_.enter(rank(), where);
    all_.break_up(rank());
  }

  // The counts since the endpoint was made.
  endpoint_statistics statistics() const noexcept {
    endpoint_statistics now = counted_;
    const std::uint64_t from_self = box_.taken_from(rank());
    now.self = box_.sent_to(rank());
    now.sent = box_.sent() - now.self;
    now.received = box_.taken() - from_self;
    return now;
  }

 private:
  // ---- a send that waits

  template <class OnMessage, class Deadline>
  bool send_by(rank_t to, const void* data, std::size_t bytes, OnMessage& on_message,
               Deadline until, site where) {
    if (where.checks() && is_sending_) report_nested("send_wait()", where);
    return try_send(to, data, bytes, where) ||
           wait_to_send(to, data, bytes, on_message, until, where);
  }

  template <class OnMessage, class Deadline>
  [[gnu::noinline]] bool wait_to_send(rank_t to, const void* data, std::size_t bytes,
                                      OnMessage& on_message, Deadline until, site where) {
    if (is_sending_) refuse(nested("send_wait()"));
    if (where.checks() && box_.held() != 0) report_held(to, where);
    const waiting_for_room waiting(*this, to);
    for (bool in_time = true;;) {
      // Other participants may wait for messages that this one has not published yet.
      flush(where);
      while (hand_over(on_message, where)) {
      }
      const bool had_news = box_.has_news();
      if (box_.sees_room(to, bytes) || box_.is_shut())
        if (try_send(to, data, bytes, where)) return true;
      require_hope(to);
      if (!in_time) return false;
      const auto guard = in_use_.enter(rank(), where);
      in_time = all_.entrance.wait(rank(), room_event(to, bytes, had_news), until);
    }
  }

  // Passes the next message, if one is here, to the caller's function. Returns false if there is
  // none.
  template <class OnMessage>
  bool hand_over(OnMessage& on_message, site where) {
    received message;
    {
      const auto guard = in_use_.enter(rank(), where);
      if (!box_.has_message()) return false;
      message = box_.recv();
    }
    try {
      on_message(std::as_const(message));
    } catch (...) {
      box_.release(message);
      throw;
    }
    release(message, where);
    return true;
  }

  // The condition that ends a wait for room.
  auto room_event(rank_t to, std::size_t bytes, bool had_news) noexcept {
    // While the box is shut, a message counts as an event only once: it is refuted, but not
    // received.
    return [this, to, bytes, had_news]() noexcept {
      if (box_.is_shut())
        return all_.detector.has_work(rank()) || box_.has_news() != had_news || has_left(to);
      return box_.sees_room(to, bytes) || box_.has_news() || has_left(to);
    };
  }

  bool has_left(rank_t who) const noexcept {
    // relaxed: a participant that leaves says so before it changes the release word.
    return all_.look().is_broken() && all_.of(who).is_where.load(relaxed) == whereabouts::gone;
  }

  // Throws if no event that may still happen can give room.
  void require_hope(rank_t to) {
    const auto hopeless = [&](const std::string& why) {
      return "rank " + std::to_string(rank()) + " waits for room to send to rank " +
             std::to_string(to) + why;
    };
    if (to == rank() && !box_.is_shut())
      refuse(hopeless(", itself, but holds messages that it has received: release them first"));
    if (has_left(to)) throw std::runtime_error("tutti: " + hopeless(", which has left"));
    if (overtaken_.is_over)
      throw std::runtime_error("tutti: " + hopeless(", but an idle_for() whose deadline had passed "
                                                    "has ended the episode: call idle()"));
  }

  // The scope of a wait for room: the reader is asked to wake this participant, and on_message may
  // not wait in its turn.
  class waiting_for_room {
   public:
    waiting_for_room(basic_endpoint& me, rank_t to) noexcept : me_(me), to_(to) { set(true); }
    ~waiting_for_room() { set(false); }
    waiting_for_room(const waiting_for_room&) = delete;
    waiting_for_room& operator=(const waiting_for_room&) = delete;

   private:
    void set(bool is_waiting) noexcept {
      me_.is_sending_ = is_waiting;
      me_.box_.want_room(to_, is_waiting);
    }
    basic_endpoint& me_;
    rank_t to_;
  };

  // ---- idle

  enum class ending : std::uint8_t { message, idle, unanimous, late };

  static idle_result result_of(ending how) noexcept {
    return how == ending::unanimous ? idle_result::unanimous
           : how == ending::idle    ? idle_result::idle
                                    : idle_result::message;
  }

  template <class Value, class Deadline>
  ending wait_idle(bool vote, Value value, Deadline until, site where) {
    const auto guard = in_use_.enter(rank(), where);
    if (where.checks() && is_sending_) report_nested("idle()", where);
    const std::uint64_t start = time_idle_ ? Memory::now_ns() : 0;
    const ending how = finds_message() ? ending::message : be_idle(vote, value, until, where);
    predictor_.learn(how == ending::message);
    // recv() may follow without can_recv(). The waiter has only seen that something has come, so
    // find the message now.
    if (how == ending::message) box_.has_message();
    if (time_idle_) counted_.idle_ns += Memory::now_ns() - start;
    return how;
  }

  // Whether a message is here or likely to come at once, so that entering idle() is not worth
  // while.
  bool finds_message() {
    box_.flush();
    if (box_.has_message()) return true;
    // If the box is shut, an earlier report may have ended the episode, and a message may belong to
    // the next one.
    if (box_.is_shut() || !predictor_.expects_message()) return false;
    for (int look = 0; look < looks_before_idle; ++look) {
      if (box_.has_news()) return true;
      Memory::relax();
    }
    return false;
  }

  template <class Value, class Deadline>
  ending be_idle(bool vote, Value& value, Deadline until, site where) {
    // A report of before a deadline may still end the episode, and the participant that ends it
    // reads what this one gave with the report: nothing, because only an idle() without a value has
    // a deadline.
    if (!box_.is_shut() || is_free_again()) {
      value.leave(mine_);
      mine_.type = Value::type();
    } else if (Value::type() != nullptr) {
      report_value_after_deadline(where);
    }
    // relaxed: only error messages read the fields of a slot.
    mine_.holds.store(box_.held(), relaxed);
    // relaxed: as above.
    mine_.is_where.store(episode_ + 1, relaxed);

    const bool has_deadline = !std::is_same_v<Deadline, no_deadline>;
    detection found = std::exchange(overtaken_, {});
    if (!found.is_over)
      found =
          all_.detector.enter(rank(), {vote, has_deadline, episode_, box_.sent(), box_.released()});
    if (found.calls_root) all_.entrance.wake(0);
    box_.shut(false);
    const ending how = await_end(found, vote, value, until, where);
    // relaxed: as above.
    mine_.is_where.store(how == ending::late ? whereabouts::late : whereabouts::running, relaxed);
    return how;
  }

  template <class Value, class Deadline>
  ending await_end(detection found, bool vote, Value& value, Deadline until, site where) {
    for (bool in_time = true;;) {
      counted_.waves += found.waves;
      if (found.is_over) return end(found.is_unanimous, value, where);
      all_.detector.tell(rank());
      // The order matters: a participant that sees a message of the next episode sees the release
      // of this one afterwards.
      const bool has_news = box_.has_news();
      const release_word now = all_.look();
      if (now.episodes() > episode_ && !all_.detector.releases_one_by_one())
        return end(now.is_unanimous(), value, where);
      if (all_.detector.has_work(rank())) {
        found = all_.detector.work(rank());
        continue;
      }
      found = {};
      if (now.episodes() == episode_) {
        if (has_news) {
          all_.detector.refute(rank(), vote);
          ++counted_.refutations;
          return ending::message;
        }
        if (now.is_broken()) refuse_broken(vote);
      }
      if (!in_time && withdraw(vote)) return ending::late;
      in_time = all_.entrance.wait(rank(), event(), until);
    }
  }

  // The condition that ends a wait in idle().
  auto event() noexcept {
    return [this]() noexcept {
      const bool has_news = box_.has_news();
      const release_word now = all_.look();
      if (now.episodes() > episode_ && !all_.detector.releases_one_by_one()) return true;
      if (all_.detector.has_work(rank())) return true;
      return now.episodes() == episode_ && (has_news || now.is_broken());
    };
  }

  template <class Value>
  ending end(bool is_unanimous, Value& value, site where) {
    // The first participant to know combines the values for all, while nobody can have left; then
    // it tells the others.
    if (all_.look().episodes() == episode_) {
      if (where.checks()) check_types(Value::type(), where);
      value.fold(all_);
      all_.release_all(rank(), episode_ + 1, is_unanimous);
    }
    all_.detector.tell(rank());
    value.take(all_);
    ++episode_;
    ++counted_.episodes;
    return is_unanimous ? ending::unanimous : ending::idle;
  }

  bool withdraw(bool vote) {
    if (!all_.detector.withdraw(rank(), vote, episode_)) {
      // The episode is over or about to be; the participant that ends it may need this core.
      Memory::yield();
      return false;
    }
    // A report that is under way may still end the episode. Nothing may be sent until that is
    // known.
    box_.shut(!all_.detector.may_send(rank()));
    return true;
  }

  // Whether messages may be sent and received again after such a withdrawal.
  bool is_free_again() { return box_.is_shut() && try_to_be_free(); }
  [[gnu::noinline]] bool try_to_be_free() {
    if (overtaken_.is_over) return false;
    overtaken_ = all_.detector.work(rank());
    all_.detector.tell(rank());
    if (overtaken_.is_over) return false;
    // The order matters, as in await_end.
    const bool has_news = box_.has_news();
    if (has_news && all_.look().episodes() == episode_) all_.detector.refute(rank(), false);
    if (!all_.detector.may_send(rank())) {
      Memory::relax();
      return false;
    }
    box_.shut(false);
    return true;
  }

  [[noreturn]] void refuse_broken(bool vote) {
    all_.detector.refute(rank(), vote);
    // relaxed: only error messages read it.
    mine_.is_where.store(whereabouts::running, relaxed);
    std::string gone;
    for (const absentee& who : all_.missing(rank(), episode_ + 1))
      if (who.why == absence::gone) gone += (gone.empty() ? "" : ", ") + std::to_string(who.rank);
    throw std::runtime_error("tutti: idle() of rank " + std::to_string(rank()) +
                             " cannot end: these ranks have left: " + gone);
  }

  // ---- misuse

  // The function that send_wait() calls holds the message at hand; it may ask once for each.
  void note_question(rank_t to, bool has_room, site where) {
    if (where.checks() && !is_sending_)
      asks_for_room_.asked(
          rank(), to, has_room, [this] { return box_.held(); }, where);
  }

  void check_rank(rank_t to, site where) const {
    if (where.checks() && to >= size()) [[unlikely]]
      report_rank(to, where);
  }
  [[gnu::noinline, gnu::cold]] void report_rank(rank_t to, site where) const {
    on_misuse("rank " + std::to_string(to) + " is out of range for a communicator of " +
                  std::to_string(size()) + " participants",
              where.at());
  }
  [[gnu::noinline, gnu::cold]] void report_no_message(site where) const {
    on_misuse("rank " + std::to_string(rank()) + " calls recv() without a message to receive",
              where.at());
  }
  [[gnu::noinline, gnu::cold]] void report_release(const received& message, site where) const {
    on_misuse("rank " + std::to_string(rank()) + " releases message " +
                  std::to_string(message.index) + " of rank " + std::to_string(message.source) +
                  ", which it has released before or never received",
              where.at());
  }

  [[gnu::noinline, gnu::cold]] void report_no_room(rank_t to, site where) const {
    const std::string what = "rank " + std::to_string(rank()) + " sends to rank " +
                             std::to_string(to) +
                             " without room: ask can_send() first, or use try_send()";
    if (where.checks()) return on_misuse(what, where.at());
    refuse(what);
  }

  std::string nested(const char* call) const {
    return "rank " + std::to_string(rank()) + " calls " + call +
           " from the function that send_wait() calls with messages; it may only receive and call "
           "try_send()";
  }
  [[gnu::noinline, gnu::cold]] void report_nested(const char* call, site where) const {
    on_misuse(nested(call), where.at());
  }
  [[gnu::noinline, gnu::cold]] void report_held(rank_t to, site where) const {
    on_misuse(
        "rank " + std::to_string(rank()) + " holds " + std::to_string(box_.held()) +
            " messages while it waits for room to send to rank " + std::to_string(to) +
            ": two ranks that do so can wait for each other for ever. Release the messages first",
        where.at());
  }

  [[gnu::noinline, gnu::cold]] void report_value_after_deadline(site where) const {
    const std::string what =
        "rank " + std::to_string(rank()) +
        " gives a value to idle(), but an idle_for() without a value, whose deadline has passed, "
        "may still end the episode: call idle() without a value until the episode ends";
    if (where.checks()) on_misuse(what, where.at());
    refuse(what);
  }

  void check_types(const void* type, site where) {
    for (rank_t other = 0; other < size(); ++other)
      if (static_cast<const void*>(all_.of(other).type) != type)
        on_misuse("ranks " + std::to_string(other) + " and " + std::to_string(rank()) +
                      " give values of different types or operations to one episode of idle()",
                  where.at());
  }

  // 8 looks take about 8 x 40 ns; a message and its answer from a running participant take half of
  // that.
  static constexpr int looks_before_idle = 8;

  mailbox<Memory, wake> box_;
  shared& all_;
  typename shared::rank_slot& mine_;
  // The number of episodes that are over.
  std::uint64_t episode_ = 0;
  // If this says that the episode is over: it ended after this participant's deadline had passed,
  // because of what the participant had reported before.
  detection overtaken_{};
  endpoint_statistics counted_;
  message_predictor predictor_;
  bool time_idle_;
  // Inside send_wait(), which has found no room so far.
  bool is_sending_ = false;
  exclusive_use_check<Memory> in_use_;
  held_message_check asks_for_room_;
};

namespace detail {
template <class Memory>
using endpoint_wait = any_wait<wake_word_memory<Memory>>;
template <class Memory>
using endpoint_detector =
    any_detector<Memory, typename wait_points<Memory, endpoint_wait<Memory>>::waker>;

// The endpoint of a communicator.
template <class Memory>
using endpoint_of = basic_endpoint<Memory, endpoint_wait<Memory>, endpoint_detector<Memory>>;
}  // namespace detail

using endpoint = detail::endpoint_of<native>;

}  // namespace tutti
