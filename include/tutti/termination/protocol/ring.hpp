// SPDX-License-Identifier: Apache-2.0
// Termination detection with one token in a ring: Safra's algorithm as published by Dijkstra.
//
// The token goes from rank 0 to n-1, n-2, ... and back to 0. Each participant holds it until it is
// passive, adds its counts, blackens it if it has freed a message since the token was last here,
// and passes it on. Rank 0 decides when the token is back and rank 0 is passive: the episode is
// over if no participant is black and sent == freed. The release goes round the same way, then the
// next wave begins. There is never more than one token.
//
// Aggregates  The token meets the ranks in descending order, and a pairwise fold of values that
//             come one by one needs log2 n registers. Therefore the token carries only the value of
//             an odd rank. An even rank sends the value of its subtree of the tournament directly
//             to the winner, which holds the token until this value has come. In most cases it has
//             come already: the token takes many hops where the partial value takes one.
// Cost        n messages per wave and n for the release (n more under phases); values add ceil(n/2)
//             - 1 messages per wave. At worst n L from the last passive participant to the
//             detection, and (n-1) L more to the last release.
// Use         As the reference, and where a participant may only talk to its neighbours; otherwise
//             use the star or the tree.
// Source      Dijkstra, "Shmuel Safra's version of termination detection", EWD998, 1987; Naylor et
//             al. 2020, section III-A.
#pragma once

#include "tutti/schedule/tournament.hpp"
#include "tutti/termination/protocol/machine_base.hpp"

namespace tutti::protocol {

template <class Policy = shipping>
class ring : public machine_base<Policy> {
  using base = machine_base<Policy>;

 public:
  ring(rank_t rank, rank_t participants, release_scheme scheme)
      : base(rank, participants, scheme),
        next_(rank == 0 ? participants - 1 : rank - 1),
        previous_(rank + 1 == participants ? 0 : rank + 1),
        opponents_(count_opponents()),
        partials_(opponents_) {
    if (rank == 0) begins_ = true;
  }

  template <class Out>
  outcome passive(const counts& totals, const contribution& given, Out&& out) {
    this->enter(totals, given);
    if (stalled_) begins_ = true;
    stalled_ = false;
    outcome done;
    advance(done, out);
    return done;
  }

  template <class Out>
  outcome receive(const control& m, Out&& out) {
    outcome done;
    done.status = check(m);
    if (done.status != status::accepted) return done;
    if (m.kind == message_kind::partial) {
      partial& p = partials_[round_of(m.source)];
      p.value = Policy::choose("value.wave", m.value, m.wave == 1 ? m.value : p.value);
      p.episode = m.episode;
      p.wave = m.wave;
      p.filled = true;
    } else {
      token_ = m;
      holds_ = true;
      this->committed_ = false;
      if (m.kind == message_kind::probe) this->probe_arrives();
    }
    advance(done, out);
    return done;
  }

  template <class Out>
  outcome left(Out&& out) {
    outcome done;
    if (this->note_left()) advance(done, out);
    return done;
  }

  template <class F>
  void awaited(F&& f) const {
    if (!holds_) return static_cast<void>(f(previous_));
    if (token_.kind != message_kind::probe || !this->passive_) return;
    for (rank_t round = 1; round < opponents_; ++round)
      if (!has_partial(round)) f(this->rank_ + (rank_t{1} << round));
  }

 private:
  struct partial {
    value_t value{};
    std::uint64_t episode = 0;
    std::uint32_t wave = 0;
    std::uint32_t filled = false;
  };

  rank_t count_opponents() const noexcept {
    const schedule::tournament t(this->participants_);
    rank_t count = 0;
    while (count < t.rounds_won(this->rank_) && t.has_opponent(count, this->rank_)) ++count;
    return count;
  }
  rank_t round_of(rank_t opponent) const noexcept {
    rank_t round = 0;
    while ((opponent - this->rank_) >> (round + 1) != 0) ++round;
    return round;
  }
  bool is_opponent(rank_t rank) const noexcept {
    if (rank <= this->rank_ || rank >= this->participants_) return false;
    const rank_t distance = rank - this->rank_;
    return (distance & (distance - 1)) == 0 && distance >> opponents_ == 0;
  }

  // --- what may come -----------------------------------------------------------------------------
  status check(const control& m) const noexcept {
    if (m.kind == message_kind::partial) return check_partial(m);
    if (m.kind != message_kind::probe && m.kind != message_kind::depart &&
        m.kind != message_kind::resume)
      return status::unknown_kind;
    if (m.source != previous_) return status::foreign_source;
    // Rank 0 is in the next episode when the release comes back.
    const bool back = this->rank_ == 0 && m.kind == message_kind::depart;
    if (m.episode + (back ? 1 : 0) != this->episode_) return status::foreign_episode;
    if (m.wave != awaited_wave(m.kind)) return status::foreign_wave;
    return in_turn(m.kind) ? status::accepted : status::out_of_turn;
  }
  status check_partial(const control& m) const noexcept {
    if (!is_opponent(m.source) || m.source == previous_) return status::foreign_source;
    if (Policy::choose("partial.overdue", is_overdue(m), false)) return status::overdue;
    if (m.episode != this->episode_) return status::foreign_episode;
    if (m.wave != wave_of_partials()) return status::foreign_wave;
    return has_partial(round_of(m.source)) ? status::out_of_turn : status::accepted;
  }
  // The participants disagreed about the operation, so no participant waited for this value.
  bool is_overdue(const control& m) const noexcept {
    if (m.episode != this->episode_) return m.episode < this->episode_;
    const std::uint32_t waves_ago = (wave_of_partials() - m.wave) & Policy::wave_mask;
    return waves_ago != 0 && waves_ago <= Policy::wave_mask / 2;
  }
  std::uint32_t awaited_wave(message_kind kind) const noexcept {
    if (this->rank_ == 0) return kind == message_kind::depart ? released_wave_ : this->wave_;
    if (kind == message_kind::probe && passed_) return base::following(this->wave_);
    return this->wave_;
  }
  bool in_turn(message_kind kind) const noexcept {
    if (holds_ || begins_) return false;
    if (kind == message_kind::probe)
      return !this->leaving_ && (this->rank_ != 0 || circulating_ == message_kind::probe);
    if (this->rank_ == 0) return circulating_ == kind;
    return kind == message_kind::depart ? this->committed_ != 0 : this->leaving_ && !this->inside_;
  }

  // --- partial values ----------------------------------------------------------------------------
  // The wave whose token is here or comes next.
  std::uint32_t wave_of_partials() const noexcept {
    return passed_ ? base::following(this->wave_) : this->wave_;
  }
  bool has_partial(rank_t round) const noexcept {
    const partial& p = partials_[round];
    return p.filled && p.episode == this->episode_ && p.wave == wave_of_partials();
  }
  bool has_partials() const noexcept {
    // If the participants disagree about the operation, there is no value, and partial values may
    // never come.
    if (this->given_.operation == 0 || !agrees()) return true;
    for (rank_t round = 1; round < opponents_; ++round)
      if (!has_partial(round)) return false;
    return true;
  }
  // Whether this participant's operation is that of all participants that the token has met.
  bool agrees() const noexcept {
    const bool first = this->rank_ + 1 == this->participants_;
    return this->given_.operation != mixed_operation &&
           (first || token_.operation == this->given_.operation);
  }
  value_t fold_subtree() const {
    value_t value = this->given_.value;
    for (rank_t round = 0; round < opponents_; ++round) {
      // The token carries the neighbour's value.
      const bool rides = round == 0;
      value = this->given_.combine(value, rides ? token_.value : partials_[round].value);
    }
    return value;
  }

  // --- the token ---------------------------------------------------------------------------------
  template <class Out>
  void advance(outcome& done, Out&& out) {
    // With one participant the token is back at once: two waves, the release and the beginning of
    // the next wave follow each other.
    for (int step = 0; step < 4; ++step) {
      if (begins_) begin_wave(out);
      if (!holds_) return;
      switch (token_.kind) {
        case message_kind::depart: pass_release(done, out); break;
        case message_kind::resume: pass_resume(out); break;
        default: pass_probe(done, out); break;
      }
      if (!begins_ && this->participants_ > 1) return;
    }
  }

  // Rank 0: the wave starts now. Messages that rank 0 frees from now on blacken it.
  template <class Out>
  void begin_wave(Out&& out) {
    begins_ = false;
    circulating_ = message_kind::probe;
    control m = this->message(message_kind::probe);
    m.unanimous = Policy::choose("vote.wave", true, this->wave_ == 1 || token_.unanimous);
    token_ = m;
    this->whiten();
    give(out);
  }

  template <class Out>
  void pass_probe(outcome& done, Out&& out) {
    if (!this->may_report() || !Policy::choose("partial.wait", has_partials(), true)) return;
    const bool own_black = this->black();
    const bool agreed = agrees();
    const value_t value = agreed && this->given_.operation != 0 ? fold_subtree() : value_t{};
    for (rank_t round = 1; round < opponents_; ++round)
      partials_[round] = {Policy::choose("value.wave", value_t{}, partials_[round].value)};
    control m = token_;
    m.source = this->rank_;
    m.sent += this->totals_.sent;
    m.freed += this->totals_.freed;
    m.black = Policy::choose("safra.pass_on", m.black || own_black, own_black);
    m.unanimous = m.unanimous && this->given_.vote;
    m.operation = agreed ? static_cast<std::uint8_t>(this->given_.operation) : mixed_operation;
    m.value = value;
    if (this->rank_ == 0) return decide(done, m, out);

    this->whiten();
    this->wave_ = m.wave;
    passed_ = true;
    this->committed_ = true;
    if (agreed && m.operation != 0 && this->rank_ % 2 == 0) {
      control p = m;
      p.kind = message_kind::partial;
      out(schedule::tournament(this->participants_).winner_over(this->rank_), p);
      m.value = value_t{};
    }
    token_ = m;
    give(out);
  }

  template <class Out>
  void decide(outcome& done, const control& m, Out&& out) {
    holds_ = false;
    if (m.black || m.sent != m.freed) {
      this->wave_ = base::following(this->wave_);
      token_ = m;
      // With one participant that is not black, another wave would find the same.
      begins_ = this->participants_ > 1 || m.black;
      stalled_ = !begins_;
      return;
    }
    released_wave_ = m.wave;
    done = this->end_episode(m);
    token_ = m;
    token_.kind = message_kind::depart;
    circulating_ = message_kind::depart;
    give(out);
  }

  template <class Out>
  void pass_release(outcome& done, Out&& out) {
    if (this->rank_ != 0) {
      if (this->episode_ == token_.episode) {
        done = this->end_episode(token_);
        passed_ = false;
      }
      if (this->leaving_ && this->inside_) return;
      token_.source = this->rank_;
      return give(out);
    }
    if (this->leaving_ && this->inside_) return;
    holds_ = false;
    if (!this->leaving_) return static_cast<void>(begins_ = true);
    this->resume();
    token_ = this->message(message_kind::resume);
    circulating_ = message_kind::resume;
    give(out);
  }

  template <class Out>
  void pass_resume(Out&& out) {
    if (this->rank_ == 0) {
      holds_ = false;
      begins_ = true;
      return;
    }
    this->resume();
    token_.source = this->rank_;
    give(out);
  }

  // Passes the token to the next participant, or to itself if there is only one.
  template <class Out>
  void give(Out&& out) {
    holds_ = this->participants_ == 1;
    if (holds_) return;
    out(next_, token_);
    token_ = {};
  }

  rank_t next_;
  rank_t previous_;
  // The ranks whose subtrees this one adds, from the nearest on.
  rank_t opponents_;
  // Rank 0: the wave named by the release that is going round.
  std::uint32_t released_wave_ = 0;
  control token_;
  // The token is here.
  std::uint8_t holds_ = false;
  // Rank 0: a wave is to begin.
  std::uint8_t begins_ = false;
  // Ranks other than 0: a token has been passed on in this episode.
  std::uint8_t passed_ = false;
  // With one participant: the next wave could give no other result before the next passive().
  std::uint8_t stalled_ = false;
  // Rank 0: what the token is currently used for.
  message_kind circulating_ = message_kind::probe;
  std::uint8_t spare_[3] = {};
  typename Policy::template slots<partial> partials_;
};

}  // namespace tutti::protocol
