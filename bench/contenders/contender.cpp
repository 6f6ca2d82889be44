// SPDX-License-Identifier: Apache-2.0
// The lists of peers, and how a user chooses from them.
#include "bench/contenders/contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/harness/names.hpp"
#include "bench/harness/peer_program.hpp"

namespace tutti::bench {
namespace {

bool contains(const std::vector<operation>& all, operation what) {
  return std::find(all.begin(), all.end(), what) != all.end();
}

std::string executable_of(const peer_process& process) {
  return process.executable.empty() ? find_peer_program(process.program) : process.executable;
}

// Each once, in their order.
std::string families_of(const std::vector<contender>& peers) {
  std::vector<std::string> families;
  for (const auto& p : peers) {
    if (families.empty() || families.back() != p.family) families.push_back(p.family);
  }
  return fmt::format("{}", fmt::join(families, ", "));
}

}  // namespace

bool contender::does(operation what) const {
  if (!in_process()) return contains(process.does, what);
  switch (what) {
    case operation::barrier: return static_cast<bool>(barrier);
    case operation::region: return static_cast<bool>(regions);
    case operation::collective: return static_cast<bool>(collectives);
    case operation::event: return static_cast<bool>(events);
  }
  return false;
}

std::vector<contender> all_peers() { return peers_of_this_build().peers; }

peer_list peers_of(operation what, const std::string& prefix) {
  peer_list list;
  auto build = peers_of_this_build();
  for (auto& p : build.peers) {
    if (!p.does(what)) continue;
    if (!p.unavailable.empty()) {
      list.missing.push_back({p.family, p.name + ": " + p.unavailable});
      continue;
    }
    if (!p.in_process()) p.process.program = prefix + p.process.program;
    if (p.in_process() || !executable_of(p.process).empty()) {
      list.peers.push_back(std::move(p));
    } else if (list.missing.empty() || list.missing.back().family != p.family) {
      list.missing.push_back({p.family, missing_peer_program(p.process.program)});
    }
  }
  for (auto& p : build.missing) {
    if (contains(p.does, what)) list.missing.push_back(std::move(p.why));
  }
  return list;
}

std::vector<trial> peer_trials(rank_t participants, bool on_fibers) {
  std::vector<trial> all;
  for (const auto& p : all_peers()) {
    if (!p.trials || (on_fibers && !p.trials_on_fibers)) continue;
    for (auto& t : p.trials(participants)) all.push_back(std::move(t));
  }
  return all;
}

std::vector<contender> choose(const peer_list& list, const std::vector<std::string>& names) {
  std::vector<contender> chosen;
  for (const auto& name : names) {
    if (name == "none") continue;
    const auto before = chosen.size();
    for (const auto& p : list.peers) {
      if (is_named(name, p.family, p.name)) chosen.push_back(p);
    }
    if (chosen.size() > before) continue;
    for (const auto& m : list.missing) {
      if (name.substr(0, name.find(':')) != m.family) continue;
      throw std::invalid_argument(fmt::format("peer {} is not available: {}", name, m.reason));
    }
    if (name == "all") continue;
    throw std::invalid_argument(fmt::format(
        "there is no peer '{}' here: use all, none, or some of {}", name, families_of(list.peers)));
  }
  return chosen;
}

std::vector<std::string> command_of(const contender& who, rank_t ranks) {
  const std::string executable = executable_of(who.process);
  if (executable.empty()) return {};
  if (!who.process.for_each_rank()) return {executable};
  std::vector<std::string> command = who.process.launcher;
  command.push_back(std::to_string(ranks));
  const auto& options = who.process.launcher_options;
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(executable);
  return command;
}

std::string name_of(const contender& who) {
  const std::string name = who.family == who.name ? who.name : who.family + " " + who.name;
  return who.wait.empty() ? name : name + ", " + who.wait;
}

}  // namespace tutti::bench
