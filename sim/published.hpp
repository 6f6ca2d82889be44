// SPDX-License-Identifier: Apache-2.0
// Times that papers have printed, or a user has measured, beside what the simulation says: the
// errors, the order of the algorithms, and a search for the parameters of machines that make the
// errors small.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/machine_file.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::sim {

struct published_value {
  std::string machine, algorithm, wait;
  rank_t threads = 2;
  double ns = 0;
  // Whether a search may use it; the others check what the search has found.
  bool is_fitted = false;
  // Whether it tells how much work a region of its machine has: then the others tell how they
  // differ from it.
  bool is_base = false;
};

// The lines "machine,algorithm,threads,ns,use" of the text of the file `path`. Throws
// std::invalid_argument for what is wrong, with the file, the line and what was expected.
std::vector<published_value> parse_published(const std::string& text, const std::string& path);

// A table that tutti brings along, by its name, or else the file of that name. Throws
// std::invalid_argument if there is neither.
std::vector<published_value> find_published(const std::string& name_or_file);
std::vector<std::string> names_of_published();

// What each rank of an episode computes, as run_plan has it.
struct work_of_rank {
  double ns = 0, spread = 0;
};
// The median of the ns between the returns of the last ranks of successive episodes.
double simulated_ns(const machine& m, const published_value& of, std::uint32_t episodes,
                    std::uint64_t seed, work_of_rank work = {});
// The work with which the simulation has the printed time. Throws std::invalid_argument if the
// barrier alone takes longer.
work_of_rank work_behind(const machine& m, const published_value& base, double spread,
                         std::uint32_t episodes, std::uint64_t seed);

// Where the values of one machine differ by over a tenth, the simulation has the order of two right
// or wrong. Counts the pairs of which at least one value is not fitted.
struct pairs_in_order {
  std::uint32_t right = 0, all = 0;
};
pairs_in_order order_of(const std::vector<published_value>& values,
                        const std::vector<double>& simulated);

struct search_plan {
  // Keys of the machines' files, which have the same value on all machines of the table.
  std::vector<std::string> keys;
  // Each key is searched from 1/`range` of `from` to `range` times it, and after half of the steps
  // around the best so far; `from` has one value a key.
  std::vector<double> from;
  double range = 100;
  std::uint32_t steps = 200, episodes = 20;
  std::uint64_t seed = 1;
  // The machine of a name with some numbers replaced. Throws std::invalid_argument if it cannot
  // have these.
  std::function<machine(const std::string& name, const settings& with)> machine_of = find_machine;
};

// The values of the keys with the least mean |log(simulated / printed)| of the values that may be
// fitted: half of the steps try values at random, the others go on from the best. `progress` gets
// each better error.
std::vector<double> search(const std::vector<published_value>& values, const search_plan& plan,
                           const std::function<void(double)>& progress);

}  // namespace tutti::sim
