// SPDX-License-Identifier: Apache-2.0
// A contender is what is measured, and what it can do: tutti itself, and its peers, each in one
// file of bench/peers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/harness/notifier.hpp"
#include "bench/harness/round.hpp"
#include "bench/harness/runtime.hpp"
#include "bench/harness/timed_barrier.hpp"
#include "bench/harness/worker.hpp"
#include "bench/trials/trial.hpp"

namespace tutti::bench {

// A process of its own, for runtimes that own their threads or read their settings when they are
// loaded.
struct peer_process {
  // The process is tutti-peer-<program>; empty: there is none.
  std::string program = {};
  // What it answers to.
  std::vector<operation> does = {};
  environment settings = {};
  // The command that starts a process for each rank; their number comes behind it.
  std::vector<std::string> launcher = {};
  std::vector<std::string> launcher_options = {};
  // The program's path, if it is not where tutti's programs look for it.
  std::string executable = {};

  bool for_each_rank() const { return !launcher.empty(); }
};

struct contender {
  // tutti, pthread, libomp, ...; if empty, the name of the peer's file.
  std::string family = {};
  // The name within the family: an algorithm, a type, a setting of the runtime.
  std::string name = {};
  // A few words that say what it is and how it waits.
  std::string summary = {};
  // Why it cannot run on this system; empty: it can.
  std::string unavailable = {};
  // The wait policy of tutti's contenders.
  std::string wait = {};

  // What it does in this process; empty: it does not.
  std::function<std::unique_ptr<timed_barrier>(rank_t)> barrier = {};
  std::function<std::unique_ptr<region_runtime>(const runtime_options&)> regions = {};
  std::function<std::unique_ptr<collective_runtime>(const runtime_options&)> collectives = {};
  // Episodes without messages, messages, hops of a token, for so many participants. They have names
  // of their own.
  std::function<std::vector<trial>(rank_t)> trials = {};
  // Notifications of so many receivers.
  std::function<std::unique_ptr<notifier>(rank_t)> events = {};
  // Threads for the rounds of its barriers, where only its own can use them.
  std::function<std::unique_ptr<team>(rank_t)> own_threads = {};
  peer_process process = {};

  // Its regions have one thread alone, and only its loops are measured.
  bool only_loops = false;
  // It can have more ranks than threads.
  bool has_fibers = false;
  // The participants of its trials may be fibers.
  bool trials_on_fibers = false;
  // The receivers of its notifications are virtual ranks, on a thread for each core.
  bool events_on_fibers = false;
  // The most doubles that it sums at once.
  unsigned widest = UINT32_MAX;

  bool does(operation what) const;
  bool in_process() const { return process.program.empty(); }
};

// A peer that opens regions on threads of its own and does nothing else.
template <class Regions>
std::vector<contender> only_regions(const char* name, const char* summary) {
  contender made;
  made.name = name;
  made.summary = summary;
  made.regions = make_regions<Regions>;
  return {std::move(made)};
}

struct missing_peer {
  std::string family;
  std::string reason;
};

struct peer_list {
  std::vector<contender> peers;
  // The peers that cannot run here, and why.
  std::vector<missing_peer> missing;
};

// The peers that do `what`: those of --peers, `tutti info` and the lines of type "skipped". A
// workload has processes of its own, whose names have its prefix.
peer_list peers_of(operation what, const std::string& prefix = {});

// All peers, whether or not their programs are found; by file, in alphabetical order.
std::vector<contender> all_peers();

// Tutti's events with each wait policy that this machine has.
std::vector<contender> tutti_events();

// The trials of all peers for so many participants; on_fibers: only those whose participants may be
// fibers.
std::vector<trial> peer_trials(rank_t participants, bool on_fibers);

// Those of `list` that are named: all, none, FAMILY or FAMILY:NAME. Throws std::invalid_argument.
std::vector<contender> choose(const peer_list& list, const std::vector<std::string>& names);

// What starts its process, for so many ranks. Empty: its program is not there.
std::vector<std::string> command_of(const contender& who, rank_t ranks);

// "tutti flags, adaptive"
std::string name_of(const contender& who);

// The names that --algorithms knows for barriers.
std::vector<std::string> algorithm_names();

// Every algorithm with every wait policy; what chooses by itself (default, default_rankless) once,
// with its own. For barriers, or for teams, whose regions and collectives it ends. Throw
// std::invalid_argument for a name that is not known or a wait policy that this machine does not
// have.
std::vector<contender> choose_tutti(const std::vector<std::string>& algorithms,
                                    const std::vector<std::string>& waits);
std::vector<contender> choose_teams(const std::vector<std::string>& algorithms,
                                    const std::vector<std::string>& waits);

// What the build made of the files in bench/peers: one function a file, and the reasons why some
// were not compiled or cannot be loaded.
struct uncompiled_peer {
  missing_peer why;
  std::vector<operation> does;
};
struct compiled_peers {
  std::vector<contender> peers;
  std::vector<uncompiled_peer> missing;
};
compiled_peers peers_of_this_build();

// Adds what peer_<name>() of bench/peers/<name>.cpp returned. Here, because a module that called a
// function of contender.cpp would need the list of all peers.
inline void add_peers_of_file(std::vector<contender>& all, const std::string& name,
                              std::vector<contender> peers) {
  for (auto& each : peers) {
    if (each.family.empty()) each.family = name;
    all.push_back(std::move(each));
  }
}

// Adds the peers of bench/peers/<name>.cpp, which needs a library of others and therefore lies in a
// module, tutti-peer-<name>.so. The first call loads it: a program that measures nothing does not
// wait for these libraries. If it cannot be loaded, the reason is added for these operations.
void add_peers_of_module(compiled_peers& all, const std::string& name,
                         std::vector<operation> operations);

}  // namespace tutti::bench
