// SPDX-License-Identifier: Apache-2.0
// Simulates up to 64 participants with random delays: the truth is never violated, and the costs
// are those of the formulas.
#include "tests/termination/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::protocol::test {
namespace {

struct form {
  std::string_view algorithm;
  release_scheme scheme;
};
void PrintTo(const form& f, std::ostream* out) {
  *out << f.algorithm << (f.scheme == release_scheme::epochs ? "_epochs" : "_phases");
}

class Detection : public testing::TestWithParam<form> {
 protected:
  simulated of(rank_t participants) const {
    simulated s;
    s.algorithm = GetParam().algorithm;
    s.scheme = GetParam().scheme;
    s.participants = participants;
    return s;
  }
  static simulation_result run(const simulated& s) {
    simulation_result r = simulate(s);
    for (const std::string& error : r.errors) ADD_FAILURE() << error;
    for (const episode_cost& e : r.episodes)
      EXPECT_EQ(e.control,
                control_messages(s.algorithm, s.participants, e.waves, s.scheme, s.values))
          << s.participants << " participants, " << e.waves << " waves";
    return r;
  }
  static constexpr rank_t sizes[] = {1, 2, 3, 5, 8, 17, 33, 64};
};

TEST_P(Detection, IsNeverWrongAndCostsWhatTheFormulaSays) {
  std::uint64_t refuted = 0, held_back = 0;
  for (const rank_t n : sizes)
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      simulated s = of(n);
      s.seed = seed;
      // Control is slower and faster than the messages.
      s.control_delay = seed % 2 != 0 ? 1 : 0.05;
      const simulation_result r = run(s);
      refuted += r.refuted;
      held_back += r.held_back;
    }
  EXPECT_GT(refuted, 1000u) << "the simulation is too tame to show anything";
  if (GetParam().scheme == release_scheme::epochs)
    EXPECT_GT(held_back, 0u);
  else
    EXPECT_EQ(held_back, 0u);
}

// At most two waves begin after the last message was freed: one may find a black participant, the
// next finds none. Without messages there is one.
TEST_P(Detection, TwoWavesAfterTheLastMessageAtMost) {
  for (const rank_t n : sizes)
    for (const bool is_empty : {true, false}) {
      simulated s = of(n);
      if (is_empty) s.messages = 0;
      s.control_delay = 1;
      s.random_delays = false;
      for (const episode_cost& e : run(s).episodes) {
        if (is_empty) {
          EXPECT_EQ(e.waves, 1u);
        }
        EXPECT_LE(e.late_waves, 2u);
        if (s.scheme != release_scheme::epochs) continue;
        const auto hops = latency_hops(s.algorithm, n, is_empty ? 0 : 2);
        EXPECT_LE(e.released - e.quiet, static_cast<double>(hops) + 1e-6);
      }
    }
}

TEST_P(Detection, WithoutValues) {
  for (const rank_t n : sizes) {
    simulated s = of(n);
    s.values = false;
    run(s);
  }
}

TEST_P(Detection, ADeadlineThatPassesTakesNothingBack) {
  for (const rank_t n : sizes)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      simulated s = of(n);
      s.lateness = 0.2;
      s.seed = seed;
      run(s);
    }
}

TEST_P(Detection, ARepeatedControlMessageIsRefused) {
  for (const rank_t n : sizes) {
    simulated s = of(n);
    s.repeats = true;
    const simulation_result r = run(s);
    EXPECT_EQ(r.refused > 0, n > 1);
  }
}

std::vector<form> forms() {
  std::vector<form> all;
  for (const algorithm& a : algorithms)
    for (const auto scheme : {release_scheme::epochs, release_scheme::phases})
      all.push_back({a.name, scheme});
  return all;
}
INSTANTIATE_TEST_SUITE_P(, Detection, testing::ValuesIn(forms()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tutti::protocol::test
