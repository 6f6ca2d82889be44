// SPDX-License-Identifier: Apache-2.0
// The state that every termination-detection machine keeps about its own participant.
//
// The colour black of Safra's algorithm needs no flag of its own: a participant is black if its
// count of freed messages has changed since it last reported. Only freeing a message can make the
// sums agree too early (docs/termination.md), and the counts only grow. A participant that was
// merely active stays white, so an episode without messages takes one wave.
#pragma once

#include "tutti/platform/misuse.hpp"
#include "tutti/termination/protocol/interface.hpp"
#include "tutti/termination/protocol/policy.hpp"

namespace tutti::protocol {

template <class Policy>
class machine_base {
 public:
  machine_base(rank_t rank, rank_t participants, release_scheme scheme)
      : rank_(rank), participants_(participants), scheme_(scheme) {
    require(participants >= 1, "termination detection needs at least one participant");
    require(rank < participants,
            "the rank of a participant must be less than the number of participants");
  }

  rank_t rank() const noexcept { return rank_; }
  rank_t size() const noexcept { return participants_; }
  std::uint64_t episode() const noexcept { return episode_; }

  // A message can be received. It refutes what the participant reported; the vote is withdrawn.
  void active() noexcept {
    passive_ = false;
    withdrawn_ = false;
    given_ = {};
  }
  // The same as active(), but without a message. A report cannot be withdrawn, so sending may have
  // to wait.
  void withdraw() noexcept {
    if (!passive_) return;
    passive_ = false;
    withdrawn_ = true;
    given_ = {};
  }
  // A report of this participant is on its way to a decision and may still end the episode.
  bool committed() const noexcept { return committed_; }
  bool sends_allowed() const noexcept {
    return resumed_ && !Policy::choose("withdraw.wait", withdrawn_ && committed_, false);
  }

  // The episode in which a message is sent. One bit is enough: no participant is two episodes ahead
  // of another.
  std::uint8_t stamp() const noexcept { return static_cast<std::uint8_t>(episode_ & 1); }
  // Whether a message may be received now. A message with the other stamp belongs to the next
  // episode: all messages of an episode have been freed before any participant leaves it.
  bool admits(std::uint8_t stamp_of_message) const noexcept {
    return scheme_ == release_scheme::phases ||
           Policy::choose("epoch.admit", stamp_of_message == stamp(), true);
  }

 protected:
  static constexpr std::uint32_t following(std::uint32_t wave) noexcept {
    return (wave + 1) & Policy::wave_mask;
  }

  void enter(const counts& totals, const contribution& given) noexcept {
    totals_ = totals;
    given_ = given;
    passive_ = true;
    withdrawn_ = false;
  }
  bool may_report() const noexcept { return Policy::choose("probe.hold", passive_ != 0, true); }
  bool black() const noexcept {
    return Policy::choose("safra.blacken", totals_.freed != freed_reported_, false);
  }
  // Call this with the report, not before: a message freed between a probe and its answer has to
  // show in the answer.
  void whiten() noexcept { freed_reported_ = totals_.freed; }
  void probe_arrives() noexcept {
    freed_reported_ = Policy::choose("safra.whiten", freed_reported_, totals_.freed);
  }

  // Ends the episode: all participants are passive and no message is under way. `last` has the
  // waves, the verdict and the value of the detecting wave.
  outcome end_episode(const control& last) noexcept {
    ++episode_;
    wave_ = 1;
    passive_ = withdrawn_ = committed_ = false;
    given_ = {};
    if (scheme_ == release_scheme::phases) {
      leaving_ = true;
      inside_ = true;
      resumed_ = Policy::choose("release.left", false, true);
    }
    return {.released = true,
            .unanimous = last.unanimous != 0,
            .mismatched = last.operation == mixed_operation,
            .operation = last.operation,
            .waves = last.wave,
            .value = last.value};
  }
  // Phases: the application leaves idle(). Returns false if it is not inside after a release.
  bool note_left() noexcept {
    if (!leaving_ || !inside_) return false;
    inside_ = false;
    return true;
  }
  void resume() noexcept {
    leaving_ = false;
    resumed_ = true;
  }

  control message(message_kind kind) const noexcept {
    control m;
    m.kind = kind;
    m.source = rank_;
    m.episode = episode_;
    m.wave = wave_;
    return m;
  }

  rank_t rank_;
  rank_t participants_;
  release_scheme scheme_;
  // Bytes, not bits, because the explorer compares states as memory.
  // The participant is inside idle().
  std::uint8_t passive_ = false;
  // The participant was inside idle(), its deadline passed, and no message has come since.
  std::uint8_t withdrawn_ = false;
  // The participant has reported in this wave and does not know the outcome.
  std::uint8_t committed_ = false;
  // Phases: between release and resume.
  std::uint8_t leaving_ = false;
  // Phases: the application has not left idle() yet.
  std::uint8_t inside_ = false;
  // Phases: sending is allowed.
  std::uint8_t resumed_ = true;
  std::uint8_t spare_ = 0;
  std::uint32_t wave_ = 1;
  std::uint32_t spare2_ = 0;
  std::uint64_t episode_ = 0;
  counts totals_;
  std::uint64_t freed_reported_ = 0;
  contribution given_;
};

}  // namespace tutti::protocol
