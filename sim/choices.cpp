// SPDX-License-Identifier: Apache-2.0
#include "sim/choices.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/harness/statistics.hpp"
#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/repeated_barrier.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/reduce/list.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/reduce/tree.hpp"
#include "tutti/team/team_class.hpp"
#include "tutti/wait/list.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::sim {
namespace {

run_plan plan_of(rank_t threads, std::uint32_t episodes) {
  return {.threads = threads, .episodes = episodes, .warm_up = std::min(5u, episodes / 2)};
}

alternative of(contender who) {
  std::string name = who.name, summary = who.summary;
  return {std::move(name), std::move(summary),
          [who = std::move(who)](const machine& m, rank_t threads, std::uint32_t episodes) {
            return bench::median_of(run(m, who, plan_of(threads, episodes)).loop);
          }};
}

// The summary of an algorithm with another number after its word "fan".
std::string with_fan(std::string summary, rank_t fan) {
  const std::size_t number = summary.find("fan ") + 4;
  const std::size_t end = summary.find_first_not_of("0123456789", number);
  return summary.replace(number, std::min(end, summary.size()) - number, std::to_string(fan));
}

// A contender that polls and is not in the list of its kind, because it is one of the list with
// another option.
template <class Make>
alternative with_option(const alternative& usual, rank_t option, Make make) {
  return of({.family = "tutti",
             .name = usual.name + ", fan " + std::to_string(option),
             .wait = "spin",
             .summary = with_fan(usual.summary, option),
             .polls_without_end = true,
             .make = [option, make](rank_t n) { return make(n, option); }});
}

template <class Platform>
auto made_striped(rank_t n, rank_t fan) {
  return std::make_unique<striped_barrier<Platform, spin_wait<Platform>>>(n, fan);
}
std::unique_ptr<repeated_object> make_striped(rank_t n, rank_t fan) {
  return made_for_width<registry::spin>(
      n, [fan](rank_t all) { return made_striped<simulated>(all, fan); },
      [fan](auto all) { return made_striped<narrow_simulated>(all, fan); });
}

class repeated_tree final : public repeated_object {
 public:
  repeated_tree(rank_t n, rank_t fan) : tree_(n, fan) {}
  void episode(rank_t rank) override { tree_.all(rank, 1.0, plus{}, results_); }

 private:
  tree_reduction<double, simulated, spin_wait<simulated>> tree_;
  double results_ = 0;
};

std::unique_ptr<repeated_object> make_tree(rank_t n, rank_t fan) {
  return std::make_unique<repeated_tree>(n, fan);
}

alternative team_of_fan(std::string name, rank_t fan) {
  return {std::move(name),
          "each thread opens the region for up to " + std::to_string(fan) + " others",
          [fan](const machine& m, rank_t threads, std::uint32_t episodes) {
            run_plan plan = plan_of(threads, episodes);
            plan.fan = fan;
            return bench::median_of(run_team(m, plan).loop);
          }};
}

const alternative& named(const std::vector<alternative>& all, const char* name) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const alternative& each) { return each.name == name; });
}

// The one of the name "default" is what tutti does.
choice made_of(std::string subject, std::string summary, std::vector<contender> all) {
  choice c{std::move(subject), std::move(summary), {}, {}};
  for (contender& who : all) {
    if (who.wait != "spin") continue;
    if (who.name == "default")
      c.chosen = of(std::move(who));
    else
      c.others.push_back(of(std::move(who)));
  }
  return c;
}

}  // namespace

std::vector<choice> choices() {
  choice anonymous = made_of("barrier", "tutti::barrier, whose threads need no ranks",
                             barriers({"default", "ticket", "striped", "pool"}, {"spin"}));
  const alternative striped = named(anonymous.others, "striped");
  for (const rank_t fan : {2u, 8u, 16u})
    anonymous.others.push_back(with_option(striped, fan, make_striped));
  choice ranked = made_of("barrier of ranks", "the same beside algorithms that need ranks",
                          barriers({"all"}, {"spin"}));
  choice reduction = made_of("reduction", "tutti::reduction of a double", reductions({"all"}));
  for (alternative& each : reduction.others)
    for (const reduction_info& info : tutti::reductions)
      if (each.name == info.name) each.summary = info.summary;
  const alternative tree = named(reduction.others, "tree");
  for (const rank_t fan : {2u, 4u, 16u})
    reduction.others.push_back(with_option(tree, fan, make_tree));
  choice region{
      "region", "an empty region of a team", team_of_fan("default", team_options{}.fan), {}};
  for (const rank_t fan : {2u, 4u, 8u, 32u, 64u})
    region.others.push_back(team_of_fan("fan " + std::to_string(fan), fan));
  return {std::move(anonymous), std::move(ranked), std::move(reduction), std::move(region)};
}

}  // namespace tutti::sim
