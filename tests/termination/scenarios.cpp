// SPDX-License-Identifier: Apache-2.0
// The lists. Sizes are chosen so that the quick ones take seconds and the long ones minutes.
#include "tests/termination/scenarios.hpp"

namespace tutti::protocol::test {
namespace {
constexpr auto epochs = release_scheme::epochs;
constexpr auto phases = release_scheme::phases;

scenario with_deadlines(scenario s, std::uint32_t deadlines) {
  s.deadlines = deadlines;
  return s;
}
scenario with_episodes(scenario s, std::uint32_t episodes) {
  s.episodes = episodes;
  return s;
}
scenario with_disagreement(scenario s) {
  s.disagrees = true;
  return s;
}
scenario with_histories(scenario s) {
  s.histories = true;
  return s;
}
// The names of all protocols but one.
std::vector<std::string> all_but(std::string_view one) {
  std::vector<std::string> names;
  for (const algorithm& a : algorithms)
    if (a.name != one) names.emplace_back(a.name);
  return names;
}
// Up to three participants the tree is the star.
const std::string_view same_as_star = "tree";
// The waves gather over the tree as Safra's protocol does.
const std::string_view same_as_tree = "waves";
}  // namespace

std::vector<scenario> quick_scenarios() {
  std::vector<scenario> all;
  for (const std::string& name : all_but(same_as_star))
    for (const auto scheme : {epochs, phases}) {
      all.push_back(of(name, scheme, 2, 2, true));
      all.push_back(of(name, scheme, 3, 2, false));
    }
  all.push_back(with_episodes(of("star", epochs, 2, 2, false), 3));
  all.push_back(with_episodes(of("ring", epochs, 2, 2, false), 3));
  all.push_back(with_deadlines(of("star", epochs, 2, 2, true), 1));
  all.push_back(with_deadlines(of("ring", epochs, 2, 2, true), 1));
  for (const std::string& name : all_but(same_as_tree))
    all.push_back(of(name, epochs, 4, 1, false));
  all.push_back(of("tree", phases, 4, 1, false));
  // There are no messages, because otherwise any number of waves may leave a partial value behind.
  for (const std::string& name : all_but(same_as_tree))
    all.push_back(with_episodes(with_disagreement(of(name, epochs, 4, 0, false)), 3));
  all.push_back(with_episodes(with_disagreement(of("ring", phases, 4, 0, false)), 3));
  return all;
}

std::vector<scenario> long_scenarios() {
  std::vector<scenario> all;
  for (const std::string& name : all_but(same_as_star))
    for (const auto scheme : {epochs, phases}) {
      all.push_back(of(name, scheme, 2, 4, true));
      all.push_back(with_episodes(of(name, scheme, 2, 3, true), 3));
      all.push_back(of(name, scheme, 3, 2, true));
      all.push_back(of(name, scheme, 3, 3, false));
      all.push_back(with_deadlines(of(name, scheme, 3, 1, true), 1));
      all.push_back(with_deadlines(of(name, scheme, 2, 2, true), 2));
    }
  for (const std::string& name : all_but(""))
    for (const auto scheme : {epochs, phases}) {
      all.push_back(of(name, scheme, 4, 2, false));
      all.push_back(of(name, scheme, 4, 1, true));
    }
  return all;
}

std::vector<std::pair<scenario, scenario>> equivalent_scenarios() {
  std::vector<std::pair<scenario, scenario>> all;
  for (const char* name : {"star", "ring"})
    all.emplace_back(with_histories(of(name, epochs, 2, 2, false)),
                     with_histories(of(name, phases, 2, 2, false)));
  return all;
}

std::vector<mutant> mutants() {
  return {
      {"safra.blacken", "no blackening", "", of("star", epochs, 2, 3, false)},
      {"safra.blacken", "no blackening", "", of("ring", epochs, 3, 3, false)},
      {"safra.pass_on", "black is not passed on: a node reports its own colour", "HPX PR 7506",
       of("ring", epochs, 3, 3, false)},
      {"safra.pass_on", "black is not passed on: a node reports its own colour", "HPX PR 7506",
       of("tree", epochs, 3, 3, false)},
      {"safra.whiten", "whitened when the probe comes, not with the report", "",
       of("ring", epochs, 3, 3, false)},
      {"probe.hold", "a running participant answers the probe", "",
       of("star", epochs, 2, 2, false)},
      {"probe.hold", "a running participant passes the token", "", of("ring", epochs, 2, 2, false)},
      {"message_counts.freed", "counted when taken, not when freed", "",
       of("star", epochs, 2, 2, false)},
      {"message_counts.sent", "created messages are not counted", "charm++ 1989",
       of("star", epochs, 2, 2, false)},
      {"waves.two", "one wave decides: sent == freed", "", of("waves", epochs, 2, 3, false)},
      {"waves.order", "sent of the wave before against freed of this one", "",
       of("waves", epochs, 2, 2, false)},
      {"waves.created", "two waves compare what was processed, not what was created",
       "charm++ 1658", of("waves", epochs, 2, 2, false)},
      {"vote.wave", "votes of earlier waves count", "", of("star", epochs, 2, 2, true)},
      {"vote.wave", "votes of earlier waves count", "", of("ring", epochs, 2, 2, true)},
      {"value.wave", "a value of an earlier wave is kept", "", of("star", epochs, 2, 2, true)},
      {"value.wave", "a value of an earlier wave is kept", "", of("ring", epochs, 3, 2, true)},
      {"partial.wait", "the token does not wait for a partial value", "",
       of("ring", epochs, 3, 1, false)},
      {"partial.overdue", "a partial value that nobody waited for is a mistake", "",
       with_disagreement(of("ring", epochs, 3, 0, false))},
      {"withdraw.wait", "after a deadline, sending with a report under way", "",
       with_deadlines(of("star", epochs, 2, 2, false), 1)},
      {"withdraw.wait", "after a deadline, sending with a report under way", "",
       with_deadlines(of("ring", epochs, 2, 2, false), 1)},
      {"release.left", "one phase: sending before all have left", "YGM PR 224",
       of("star", phases, 2, 2, false)},
      {"release.left", "one phase: sending before all have left", "YGM PR 224",
       of("ring", phases, 2, 2, false)},
      {"epoch.admit", "no stamp: the next episode's messages are delivered",
       "YGM PR 224, libMesh 1684", of("star", epochs, 2, 2, false)},
      {"epoch.admit", "no stamp: the next episode's messages are delivered",
       "YGM PR 224, libMesh 1684", of("ring", epochs, 2, 2, false)},
  };
}

}  // namespace tutti::protocol::test
