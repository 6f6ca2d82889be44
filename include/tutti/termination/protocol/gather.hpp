// SPDX-License-Identifier: Apache-2.0
// Termination detection over a tree of reports: the star of Naylor et al. 2020 (one level), a tree
// of any fan, and four-counter waves.
//
// Each participant holds the probe of its wave until it is passive and its children have reported;
// then it reports the sums of its subtree. Rank 0 decides. If a wave fails, the next one follows.
// Under epochs the release is the first probe of the next episode, so an episode in which the first
// wave succeeds costs as much as a barrier.
//
// Cost     2 (n-1) messages per wave. From the last passive participant to the last release: 2 d L
//          if no message was freed in the episode (one wave), else 4 d L (two waves), where d is
//          the number of levels, 1 for the star. Phases add 2 (n-1) messages and 2 d L.
// Criteria safra: no participant has freed a message since its report in the wave before, and
//          sent == freed over all participants.
//          four_counter: freed over all participants in the wave before == sent over all in this
//          one. It compares sums instead of participants. The last wave of an episode counts as the
//          one before the first wave of the next.
// Use      The star for up to a dozen participants, or where one participant reads many lines
//          faster than two hops take; the tree for more. Four counters where the sums come from a
//          reduction that has no room for a colour.
// Source   Star: Naylor et al. 2020, section III-C. Colours: Dijkstra 1987 (EWD998). Four counters:
//          Mattern 1987. Tree: schedule/fan_in.hpp.
#pragma once

#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/termination/protocol/machine_base.hpp"

namespace tutti::protocol {

enum class criterion : std::uint8_t { safra, four_counter };

template <class Policy = shipping>
class gather : public machine_base<Policy> {
  using base = machine_base<Policy>;

 public:
  // `fan` must be a power of two. Rank 0 is the root.
  gather(rank_t rank, rank_t participants, rank_t fan, criterion decides_by, release_scheme scheme)
      : base(rank, participants, scheme),
        schedule_(participants, fan),
        rounds_(schedule_.rounds_collected(rank)),
        fan_(fan),
        parent_(parent_of(rank)),
        children_(count_children()),
        decides_by_(decides_by),
        slots_(children_) {}

  template <class Out>
  outcome passive(const counts& totals, const contribution& given, Out&& out) {
    this->enter(totals, given);
    outcome done;
    try_report(done, out);
    return done;
  }

  template <class Out>
  outcome receive(const control& m, Out&& out) {
    outcome done;
    const rank_t child = child_of(m.source);
    done.status = check(m, child);
    if (done.status != status::accepted) return done;
    switch (m.kind) {
      case message_kind::probe: begin_wave(m.wave, out); break;
      case message_kind::report: add(m, child); break;
      case message_kind::depart: finish(done, m, out); break;
      case message_kind::left:
        slots_[child].reported = true;
        ++reported_;
        try_left(out);
        break;
      default: start_episode(out); break;  // resume
    }
    try_report(done, out);
    return done;
  }

  template <class Out>
  outcome left(Out&& out) {
    outcome done;
    if (this->note_left()) try_left(out);
    return done;
  }

  template <class F>
  void awaited(F&& f) const {
    if (waits_for_parent()) return static_cast<void>(f(parent_));
    for (rank_t child = 0; child < children_; ++child)
      if (!slots_[child].reported) f(rank_of(child));
  }

 private:
  struct slot {
    value_t value{};
    std::uint64_t reported = false;
  };

  // --- the tree ----------------------------------------------------------------------------------
  rank_t parent_of(rank_t rank) const noexcept {
    if (rank == 0) return 0;
    std::uint64_t block = fan_;
    for (rank_t round = 0; round < rounds_; ++round) block *= fan_;
    return static_cast<rank_t>(rank - rank % block);
  }
  rank_t count_children() const noexcept {
    rank_t count = 0;
    for (rank_t round = 0; round < rounds_; ++round)
      count += schedule_.children(round, this->rank_);
    return count;
  }
  // Only the last round in which a rank collects can be incomplete.
  rank_t rank_of(rank_t child) const noexcept {
    return schedule_.child(child / (fan_ - 1), this->rank_, child % (fan_ - 1));
  }
  // Returns children_ for a rank that is no child.
  rank_t child_of(rank_t rank) const noexcept {
    if (rank <= this->rank_ || rank >= this->participants_) return children_;
    std::uint64_t distance = rank - this->rank_;
    rank_t round = 0;
    for (; distance % fan_ == 0; distance /= fan_) ++round;
    if (distance >= fan_ || round >= rounds_) return children_;
    return round * (fan_ - 1) + static_cast<rank_t>(distance) - 1;
  }

  // --- what may come -----------------------------------------------------------------------------
  bool waits_for_parent() const noexcept {
    return this->rank_ != 0 && (this->committed_ || (this->leaving_ && acknowledged_));
  }
  status check(const control& m, rank_t child) const noexcept {
    const bool from_child = m.kind == message_kind::report || m.kind == message_kind::left;
    const bool from_parent = m.kind == message_kind::probe || m.kind == message_kind::depart ||
                             m.kind == message_kind::resume;
    if (!from_child && !from_parent) return status::unknown_kind;
    if (from_child ? child == children_ : this->rank_ == 0 || m.source != parent_)
      return status::foreign_source;
    if (m.episode != this->episode_) return status::foreign_episode;
    const bool next = m.kind == message_kind::probe;
    if (m.wave != (next ? base::following(this->wave_) : this->wave_)) return status::foreign_wave;
    return in_turn(m.kind, child) ? status::accepted : status::out_of_turn;
  }
  bool in_turn(message_kind kind, rank_t child) const noexcept {
    switch (kind) {
      case message_kind::report: return !this->leaving_ && probed_ && !slots_[child].reported;
      case message_kind::left: return this->leaving_ && !slots_[child].reported;
      case message_kind::resume: return this->leaving_ && acknowledged_;
      default: return this->committed_;  // probe, release
    }
  }

  // --- a wave ------------------------------------------------------------------------------------
  void clear() noexcept {
    for (rank_t child = 0; child < children_; ++child)
      slots_[child] = {Policy::choose("value.wave", value_t{}, slots_[child].value), false};
    reported_ = 0;
    sum_ = {};
    black_ = false;
    every_operation_ = 0xff;
    any_operation_ = 0;
  }
  template <class Out>
  void begin_wave(std::uint32_t wave, Out&& out) {
    clear();
    vote_ = Policy::choose("vote.wave", true, vote_ != 0);
    this->wave_ = wave;
    this->committed_ = false;
    this->probe_arrives();
    probed_ = true;
    tell_children(this->message(message_kind::probe), out);
  }
  void add(const control& m, rank_t child) noexcept {
    slot& s = slots_[child];
    s.value = Policy::choose("value.wave", m.value, this->wave_ == 1 ? m.value : s.value);
    s.reported = true;
    ++reported_;
    sum_.sent += m.sent;
    sum_.freed += m.freed;
    black_ |= m.black;
    vote_ &= m.unanimous;
    every_operation_ &= m.operation;
    any_operation_ |= m.operation;
  }

  // The report of the subtree. The participant's own counts are sampled here, together with the
  // report.
  control sample() {
    control m = this->message(message_kind::report);
    const auto mine = static_cast<std::uint8_t>(this->given_.operation);
    const bool own_black = this->black();
    this->whiten();
    m.sent = sum_.sent + this->totals_.sent;
    m.freed = sum_.freed + this->totals_.freed;
    m.black = Policy::choose("safra.pass_on", black_ || own_black, own_black);
    m.unanimous = vote_ && this->given_.vote;
    const bool agreed =
        (every_operation_ & mine) == (any_operation_ | mine) && mine != mixed_operation;
    m.operation = agreed ? mine : mixed_operation;
    if (agreed && mine != 0) m.value = fold_subtree();
    return m;
  }
  // After each round the value held is that of a whole subtree of the tournament
  // (schedule/fan_in.hpp).
  value_t fold_subtree() const {
    value_t value = this->given_.value;
    // The first child of the round.
    rank_t first = 0;
    for (rank_t round = 0; round < rounds_; ++round) {
      const rank_t count = first < children_ ? schedule_.children(round, this->rank_) : 0;
      const auto get = [&](rank_t i) { return i == 0 ? value : slots_[first + i - 1].value; };
      const value_t held = schedule::fold(0, count + 1, get, this->given_.combine);
      value = held;
      first += count;
    }
    return value;
  }

  bool detects(const control& m) const noexcept {
    if (decides_by_ == criterion::safra) return !m.black && m.sent == m.freed;
    const bool one_wave = m.sent == m.freed;
    const bool reversed = before_.sent == m.freed;
    const bool only_freed = before_.sent == before_.freed && before_.freed == m.freed;
    const bool right = before_.freed == m.sent;
    return Policy::choose(
        "waves.created",
        Policy::choose("waves.order", Policy::choose("waves.two", right, one_wave), reversed),
        only_freed);
  }

  template <class Out>
  void try_report(outcome& done, Out&& out) {
    // A single participant gets no report that would start the second wave, which a freed message
    // requires.
    for (int wave = 0; wave < 2; ++wave) {
      if (!this->may_report() || !probed_ || this->leaving_ || reported_ != children_) return;
      const control m = sample();
      if (this->rank_ != 0) {
        probed_ = false;
        this->committed_ = true;
        return static_cast<void>(out(parent_, m));
      }
      const bool detected = detects(m);
      before_ = {m.sent, m.freed};
      if (detected) return finish(done, m, out);
      begin_wave(base::following(this->wave_), out);
      if (children_ != 0) return;
    }
  }

  // --- the release -------------------------------------------------------------------------------
  template <class Out>
  void finish(outcome& done, const control& last, Out&& out) {
    control m = last;
    m.kind = message_kind::depart;
    m.source = this->rank_;
    tell_children(m, out);
    done = this->end_episode(last);
    clear();
    vote_ = true;
    acknowledged_ = false;
    // Under epochs the release is a probe.
    probed_ = !this->leaving_;
  }
  template <class Out>
  void try_left(Out&& out) {
    if (this->inside_ || reported_ != children_) return;
    if (this->rank_ == 0) return start_episode(out);
    acknowledged_ = true;
    out(parent_, this->message(message_kind::left));
  }
  template <class Out>
  void start_episode(Out&& out) {
    clear();
    this->resume();
    probed_ = true;
    tell_children(this->message(message_kind::resume), out);
  }

  // Sends to the farthest child first, because its messages have the longest way to go.
  template <class Out>
  void tell_children(const control& m, Out&& out) {
    for (rank_t child = children_; child > 0; --child) out(rank_of(child - 1), m);
  }

  schedule::fan_in schedule_;
  rank_t rounds_;
  rank_t fan_;
  rank_t parent_;
  rank_t children_;
  // Children that have reported in this wave, or left in this release.
  rank_t reported_ = 0;
  criterion decides_by_;
  // A probe waits for this participant.
  std::uint8_t probed_ = true;
  // Phases: the subtree has left, and the parent knows.
  std::uint8_t acknowledged_ = false;
  // This and the next three combine the children's reports.
  std::uint8_t black_ = false;
  std::uint8_t vote_ = true;
  // The operations combined by `and` and by `or`; the two are equal if all operations are.
  std::uint8_t every_operation_ = 0xff;
  std::uint8_t any_operation_ = 0;
  std::uint8_t spare_ = 0;
  counts sum_;
  // At the root: the sums of the wave before.
  counts before_;
  typename Policy::template slots<slot> slots_;
};

}  // namespace tutti::protocol
