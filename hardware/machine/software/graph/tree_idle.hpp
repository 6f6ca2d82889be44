// SPDX-License-Identifier: Apache-2.0
// Termination detection in software, by messages, in place of the machine's: waves over a tree of
// all cores, with the counts and the colours of Safra's algorithm (Dijkstra, EWD 998) and the three
// phases of Naylor et al. 2020. A core passes a wave on at once, and answers it when it is idle and
// its children have answered.
//
// Between release and enable nobody sends. A core that has been released and gets a message of a
// vertex knows by it that all have been released: it keeps the message for the next step and
// returns.
//
// With an aggregator the replies carry the total of a subtree, and the release that of all, in a
// word more of the same messages.
#pragma once

#include <cstdint>

#include "hardware/machine/software/graph/engine.hpp"

namespace tutti::rtl {

template <aggregator How = aggregator::none>
class tree_idle {
  static constexpr bool aggregates = How != aggregator::none;

 public:
  explicit tree_idle(std::uint32_t fan_out) noexcept : me_(THIS_CORE), first_(me_ * fan_out + 1) {
    parent_ = me_ == 0 ? 0 : (me_ - 1) / fan_out;
    for (std::uint32_t i = 0; i < fan_out; ++i) children_ += first_ + i < CORES ? 1 : 0;
  }

  void sent() noexcept { ++count_; }
  void received() noexcept {
    --count_;
    is_black_ = true;
    is_idle_ = false;
  }

  template <class Engine>
  bool keeps(Engine& engine, const letter& m) noexcept {
    if ((m[0] & header_kind) != 0) {
      take(engine, m);
      return false;
    }
    if (result_ == ended::no) return false;
    kept_[kept_count_++] = m.from() << 16 | m.length() << 8 | m.slot();
    may_return_ = true;
    return true;
  }
  template <class F>
  void take_kept(F f) noexcept {
    // The thread is released, and has not made its step.
    if (result_ != ended::no) return;
    const std::uint32_t count = kept_count_;
    kept_count_ = 0;
    for (std::uint32_t i = 0; i < count; ++i) f(kept_[i]);
  }

  template <class Engine>
  ended idle(Engine& engine, bool vote) noexcept {
    is_idle_ = true;
    vote_ = vote;
    while (is_idle_) {
      if (may_return_) {
        may_return_ = is_idle_ = false;
        const ended now = result_;
        result_ = ended::no;
        return now;
      }
      if (me_ == 0 && phase_ == phase::none) begin(engine, phase::detect);
      answer(engine);
      // The root begins the next wave, or the next phase of this one.
      if (may_return_ || !is_idle_ || (me_ == 0 && missing_ == 0)) continue;
      message_wait(MESSAGE_CAN_RECEIVE);
      engine.receive_one();
    }
    return ended::no;
  }

  template <class Engine>
  ended idle(Engine& engine, bool vote, aggregator, std::uint32_t value) noexcept {
    value_ = value;
    return idle(engine, vote);
  }
  std::uint32_t total() const noexcept { return total_; }

 private:
  enum class phase : std::uint32_t { none, detect, release, enable, reply };
  // A control message: kind and phase, the count, and the flags.
  static constexpr std::uint32_t black_flag = 1, false_flag = 2;

  template <class Engine>
  void put(Engine& engine, std::uint32_t core, phase what, std::uint32_t count, std::uint32_t flags,
           std::uint32_t total) noexcept {
    if constexpr (aggregates) {
      const std::uint32_t words[] = {header_kind | static_cast<std::uint32_t>(what), count, flags,
                                     total};
      engine.post(core, words, 4);
    } else {
      const std::uint32_t words[] = {header_kind | static_cast<std::uint32_t>(what), count, flags};
      engine.post(core, words, 3);
    }
  }
  // A wave reaches this core: it goes on to the children.
  template <class Engine>
  void begin(Engine& engine, phase what, std::uint32_t flags = 0,
             std::uint32_t total = 0) noexcept {
    phase_ = what;
    missing_ = children_;
    sum_ = flags_ = 0;
    if constexpr (aggregates) subtotal_ = neutral(How);
    if (what == phase::release) {
      result_ = (flags & false_flag) != 0 ? ended::yes : ended::unanimously;
      release_flags_ = flags;
      if constexpr (aggregates) total_ = total;
    }
    if (what == phase::enable) {
      phase_ = phase::none;
      // A core that has returned already has no result any more.
      may_return_ = result_ != ended::no;
    }
    for (std::uint32_t i = 0; i < children_; ++i) put(engine, first_ + i, what, 0, flags, total);
  }
  template <class Engine>
  void take(Engine& engine, const letter& m) noexcept {
    const auto what = static_cast<phase>(m[0] & ~header_kind);
    if (what != phase::reply) return begin(engine, what, m[2], aggregates ? m[3] : 0);
    sum_ += m[1];
    flags_ |= m[2];
    if constexpr (aggregates) subtotal_ = combined(How, subtotal_, m[3]);
    --missing_;
  }
  // Answers the wave, if this core and all below it can.
  template <class Engine>
  void answer(Engine& engine) noexcept {
    if (missing_ != 0 || (phase_ != phase::detect && phase_ != phase::release)) return;
    const phase was = phase_;
    if (was == phase::detect) {
      sum_ += count_;
      flags_ |= (is_black_ ? black_flag : 0) | (vote_ ? 0 : false_flag);
      is_black_ = false;
      if constexpr (aggregates) subtotal_ = combined(How, subtotal_, value_);
    }
    if (me_ != 0) {
      phase_ = phase::none;
      put(engine, parent_, phase::reply, sum_, flags_, subtotal_);
    } else if (was == phase::release) {
      begin(engine, phase::enable, release_flags_);
    } else if (sum_ == 0 && (flags_ & black_flag) == 0) {
      begin(engine, phase::release, flags_, subtotal_);
    } else {
      phase_ = phase::none;
    }
  }

  const std::uint32_t me_, first_;
  std::uint32_t parent_ = 0, children_ = 0;
  // Messages of vertices sent minus received, and whether one has come since the last answer.
  std::uint32_t count_ = 0;
  bool is_black_ = false, is_idle_ = false, vote_ = false, may_return_ = false;
  ended result_ = ended::no;
  // The wave that is open here, the children that have not answered, and what the others have.
  phase phase_ = phase::none;
  std::uint32_t missing_ = 0, sum_ = 0, flags_ = 0, release_flags_ = 0;
  // The value of this core, the total of those that have answered, and that of the last end.
  std::uint32_t value_ = 0, subtotal_ = 0, total_ = 0;
  std::uint32_t kept_[MESSAGE_SLOTS]{}, kept_count_ = 0;
};

}  // namespace tutti::rtl
