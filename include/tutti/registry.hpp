// SPDX-License-Identifier: Apache-2.0
// The list of barrier algorithms; wait/list.hpp has the wait policies. The names of the C interface
// and of tutti::barrier, the conformance suite, the model checker, the benchmarks, `tutti info` and
// the table of the documentation are made from them.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <tuple>

#include "tutti/barrier/any.hpp"
#include "tutti/barrier/atomic.hpp"
#include "tutti/barrier/central.hpp"
#include "tutti/barrier/combining.hpp"
#include "tutti/barrier/counting.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/barrier/flags.hpp"
#include "tutti/barrier/hierarchical.hpp"
#include "tutti/barrier/mcs.hpp"
#include "tutti/barrier/mutex.hpp"
#include "tutti/barrier/pool.hpp"
#include "tutti/barrier/recursive.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/barrier/tournament.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/wait/list.hpp"

namespace tutti {

struct algorithm_info {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  // The operations on the critical path, for n participants.
  std::string_view cost;
  std::string_view use_when;
  std::string_view avoid_when;
  // Any thread may arrive; ranks are ignored.
  bool anonymous = false;
  // More threads than participants may arrive; those that come too early wait for the
  // next episode.
  bool takes_crowds = false;
};

namespace registry {

// An entry describes an algorithm, names its type for a memory and a wait policy, and makes one for
// n participants. If two to four participants do not reach every branch of what make(n) gives (the
// fan of a tree is large, say), make_small(n) gives the model checker another shape, for at least
// `small_from` participants.
template <template <class, class> class Barrier>
struct entry {
  template <class Memory, class Wait>
  using type = Barrier<Memory, Wait>;
  template <class Memory, class Wait>
  static std::unique_ptr<type<Memory, Wait>> make(rank_t n) {
    return std::make_unique<type<Memory, Wait>>(n);
  }
};

// Aliases with exactly two parameters, for templates that have more.
template <class M, class W>
using flags_plain = flags_barrier<M, W, false>;
template <class M, class W>
using flags_padded = flags_barrier<M, W, true>;
template <class M, class W>
using recursive_plain = recursive_barrier<M, W, false>;
template <class M, class W>
using recursive_padded = recursive_barrier<M, W, true>;
template <class M, class W>
using mcs_4_2 = mcs_barrier<M, W, 4, 2>;

struct counting : entry<counting_barrier> {
  static constexpr algorithm_info info{"counting",
                                       "two counters used in turn, one departure word each",
                                       "Hetland et al. 2019, sections 2 and 3.2",
                                       "n fetch_adds on one line + 1 line to all",
                                       "up to a dozen cores; the algorithm of the HARP unit",
                                       "many cores"};
};
struct central : entry<central_barrier> {
  static constexpr algorithm_info info{"central",
                                       "sense-reversing count-down on one word",
                                       "Mellor-Crummey and Scott 1991, alg. 7",
                                       "n fetch_subs on one line + 1 line to all",
                                       "few cores; the textbook reference",
                                       "many cores"};
};
struct ticket : entry<ticket_barrier> {
  static constexpr algorithm_info info{
      "ticket",
      "everybody draws a ticket; the last one drawn is the release",
      "Hetland et al. 2019, section 2",
      "n fetch_adds on one line",
      "few participants, or more participants than cores",
      "many cores",
      true};
};
struct pool : entry<pool_barrier> {
  static constexpr algorithm_info info{"pool",
                                       "count and sequence in one word; any n threads may arrive, "
                                       "and the first to leave may destroy it",
                                       "Hetland et al. 2019, section 2; leaving as in glibc",
                                       "n compare-and-swaps + n fetch_adds on two lines",
                                       "the threads change, or the barrier lives on a stack",
                                       "many cores",
                                       true,
                                       true};
};
struct striped : entry<striped_barrier> {
  static constexpr algorithm_info info{"striped",
                                       "a tree of counters with fan 4, one release word; any "
                                       "thread may arrive, and participants may drop",
                                       "Yew, Tzeng and Lawrie 1987",
                                       "log4 n compare-and-swaps + 1 line to all",
                                       "five cores and more, without fixed ranks",
                                       "two to four participants",
                                       true,
                                       true};
  // Two to four participants share one leaf of the usual fan.
  static constexpr rank_t small_from = 2;
  template <class Memory, class Wait>
  static std::unique_ptr<type<Memory, Wait>> make_small(rank_t n) {
    return std::make_unique<type<Memory, Wait>>(n, n == 2 ? 1 : 2);
  }
};
struct flags : entry<flags_plain> {
  static constexpr algorithm_info info{
      "flags",
      "one flag per worker, several on a line; the master reads them all",
      "Berger and Stamatakis 2010, section III.A",
      "n-1 flags in n/32 lines + 1 line to all",
      "few workers and a master",
      "many cores"};
};
struct flags_on_lines : entry<flags_padded> {
  static constexpr algorithm_info info{"flags_padded",
                                       "like flags, but each flag on its own line",
                                       "Berger and Stamatakis 2010, section III.A",
                                       "n-1 lines + 1 line to all",
                                       "few workers that arrive together",
                                       "many cores"};
};
struct recursive : entry<recursive_plain> {
  static constexpr algorithm_info info{"recursive",
                                       "flags collected along a binary tree, several on a line",
                                       "Berger and Stamatakis 2010, section III.B",
                                       "log2 n transfers + 1 line to all",
                                       "a dozen cores and a master; carries a reduction",
                                       "two to four participants"};
};
struct recursive_on_lines : entry<recursive_padded> {
  static constexpr algorithm_info info{"recursive_padded",
                                       "like recursive, but each flag on its own line",
                                       "Berger and Stamatakis 2010, section III.B",
                                       "log2 n transfers + 1 line to all",
                                       "a dozen cores and a master; carries a reduction",
                                       "two to four participants"};
};
struct atomic : entry<atomic_barrier> {
  static constexpr algorithm_info info{"atomic",
                                       "workers count themselves atomically; the master releases",
                                       "Berger and Stamatakis 2010, section III.C",
                                       "n-1 fetch_adds on one line + 1 line to all",
                                       "few workers and a master",
                                       "many cores"};
};
struct mutex : entry<mutex_barrier> {
  static constexpr algorithm_info info{"mutex",
                                       "workers count themselves under a lock",
                                       "Berger and Stamatakis 2010, section III.D",
                                       "n-1 locked sections + 1 line to all",
                                       "never by choice: it shows the cost of the lock",
                                       "always"};
};
struct combining : entry<combining_barrier> {
  static constexpr algorithm_info info{
      "combining",
      "counters in a tree of fan-in 4; the release goes down the same tree",
      "Mellor-Crummey and Scott 1991, alg. 8",
      "log4 n fetch_adds up + log4 n lines down",
      "many cores",
      "few participants"};
  // Up to four participants share one node of the usual fan.
  static constexpr rank_t small_from = 3;
  template <class Memory, class Wait>
  static std::unique_ptr<type<Memory, Wait>> make_small(rank_t n) {
    return std::make_unique<type<Memory, Wait>>(n, 2);
  }
};
struct mcs : entry<mcs_4_2> {
  static constexpr algorithm_info info{"mcs",
                                       "static trees, fan-in 4 up, fan-out 2 down, stores only",
                                       "Mellor-Crummey and Scott 1991, alg. 11",
                                       "log4 n transfers up + log2 n down",
                                       "many cores; expensive read-modify-writes",
                                       "few participants"};
  // Four participants have one parent.
  static constexpr rank_t small_from = 4;
  template <class Memory, class Wait>
  static std::unique_ptr<mcs_barrier<Memory, Wait, 2, 2>> make_small(rank_t n) {
    return std::make_unique<mcs_barrier<Memory, Wait, 2, 2>>(n);
  }
};
struct dissemination : entry<dissemination_barrier> {
  static constexpr algorithm_info info{"dissemination",
                                       "in round k every rank signals the rank 2^k ahead",
                                       "Hensgen, Finkel and Manber 1988; Hetland et al. 2019",
                                       "log2 n transfers",
                                       "one core per participant, arrivals close together",
                                       "more participants than cores"};
};
struct dissemination_4 : entry<dissemination_barrier> {
  static constexpr algorithm_info info{"dissemination_4",
                                       "dissemination with radix 4: three signals per round",
                                       "Hoefler et al. 2006",
                                       "log4 n rounds of 3 transfers in parallel",
                                       "many cores that overlap misses well",
                                       "more participants than cores"};
  template <class Memory, class Wait>
  static std::unique_ptr<type<Memory, Wait>> make(rank_t n) {
    return std::make_unique<type<Memory, Wait>>(n, 4);
  }
};
struct tournament : entry<tournament_barrier> {
  static constexpr algorithm_info info{
      "tournament",
      "pairs meet, winners go on, and the champion releases down the same tree",
      "Hensgen, Finkel and Manber 1988; Hetland et al. 2019",
      "log2 n transfers up + log2 n down",
      "many cores (best on three machines of Hetland et al. 2019)",
      "more participants than cores"};
};
struct hierarchical : entry<hierarchical_barrier> {
  static constexpr algorithm_info info{
      "hierarchical",
      "one counter per shared cache, dissemination among their leaders",
      "Rodchenko et al. 2015; hwloc",
      "n/groups fetch_adds + log2 groups transfers + 1 line to the group",
      "several sockets or core complexes",
      "one shared cache"};
  template <class Memory, class Wait>
  static std::unique_ptr<type<Memory, Wait>> make(rank_t n) {
    if constexpr (requires { Memory::cache_groups(n); })
      return std::make_unique<type<Memory, Wait>>(Memory::cache_groups(n));
    else
      return std::make_unique<type<Memory, Wait>>(platform::cache_groups(n));
  }
  // All share one cache.
  static constexpr rank_t small_from = 3;
  template <class Memory, class Wait>
  static std::unique_ptr<type<Memory, Wait>> make_small(rank_t n) {
    return std::make_unique<type<Memory, Wait>>(std::array{n});
  }
};

using algorithms = std::tuple<counting, central, ticket, pool, striped, flags, flags_on_lines,
                              recursive, recursive_on_lines, atomic, mutex, combining, mcs,
                              dissemination, dissemination_4, tournament, hierarchical>;

}  // namespace registry

// The same list as values.
inline constexpr auto algorithms = []<class... A>(std::tuple<A...>*) {
  return std::array{A::info...};
}(static_cast<registry::algorithms*>(nullptr));

// make_barrier also knows the names "default" (tutti::barrier, with ranks) and "default_rankless".
inline constexpr std::string_view default_algorithm = "default";
inline constexpr std::string_view default_rankless_algorithm = "default_rankless";

}  // namespace tutti
