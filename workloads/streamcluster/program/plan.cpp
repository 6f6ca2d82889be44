// SPDX-License-Identifier: Apache-2.0
// Turns options into a plan.
#include "workloads/streamcluster/program/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "cli/lists.hpp"
#include "tutti/barrier/provider.hpp"
#include "tutti/registry.hpp"

namespace tutti::streamcluster {
namespace {

using cli::parse_counts;
using cli::parse_integer;
using cli::split;

constexpr std::uint32_t most_threads = 1024;

const named_input* find_input(const std::string& name) {
  for (const named_input& known : named_inputs()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

file_format parse_format(const std::string& name) {
  if (name == "auto") return file_format::automatic;
  if (name == "text") return file_format::text;
  if (name == "npy") return file_format::npy;
  if (name == "raw") return file_format::raw;
  throw std::invalid_argument(fmt::format("--format: '{}' is not auto, text, npy or raw", name));
}

// Whether a team takes it as its barrier: the default, an algorithm, or a provider.
bool is_tuttis(const std::string& name) {
  return name != default_rankless_algorithm && is_barrier_name(name);
}

std::vector<std::string> parse_barriers(const std::string& text) {
  std::vector<std::string> names;
  if (text == "all") {
    names.emplace_back(default_algorithm);
    for (const algorithm_info& a : algorithms) names.emplace_back(a.name);
    for (const std::string& added : barrier_provider_names()) names.push_back(added);
    for (const std::string_view foreign : foreign_barriers()) names.emplace_back(foreign);
    return names;
  }
  for (const std::string& name : split("--barrier", text)) {
    const auto foreign = foreign_barriers();
    const bool known =
        is_tuttis(name) || std::find(foreign.begin(), foreign.end(), name) != foreign.end();
    if (!known) {
      throw std::invalid_argument(fmt::format(
          "--barrier: '{}' is not a barrier; `tutti info` lists them, and there are {} and all",
          name, fmt::join(foreign, ", ")));
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void check_wait(const std::string& name) {
  const auto known = std::find_if(wait_policies.begin(), wait_policies.end(),
                                  [&](const wait_info& w) { return w.name == name; });
  if (known == wait_policies.end()) {
    throw std::invalid_argument(
        fmt::format("--wait: '{}' is not a wait policy; `tutti info` lists them", name));
  }
  if (!known->available()) {
    throw std::invalid_argument(fmt::format("--wait: this machine lacks what '{}' needs", name));
  }
}

setting make_setting(const std::string& barrier, const request& r, rank_t threads, rank_t ranks) {
  setting s{
      "tutti", barrier, r.wait, threads, ranks == 0 ? threads : ranks, collectives_kind::team};
  if (is_tuttis(barrier)) return s;
  s.provider = barrier;
  s.kind = barrier == "std" ? collectives_kind::standard : collectives_kind::pthread;
  s.wait.clear();
  if (s.ranks > s.threads) {
    throw std::invalid_argument(
        fmt::format("--ranks: {} ranks on {} threads cannot use the barrier '{}', which "
                    "stops whole threads",
                    s.ranks, s.threads, barrier));
  }
  return s;
}

// Uses the value of the option if it was given.
void override_with(const char* option, const std::string& text, std::size_t least,
                   std::size_t& value) {
  if (!text.empty()) value = parse_integer(option, text, least, UINT32_MAX);
}

void parse_input(const request& r, plan& p) {
  p.input = r.input;
  const named_input* known = find_input(r.input);
  p.is_file = known == nullptr;
  p.format = parse_format(r.format);
  if (known != nullptr) {
    p.points = known->points;
    p.dimensions = known->dimensions;
    p.how.k_min = known->k_min;
    p.how.k_max = known->k_max;
    p.how.chunk = known->chunk;
    p.how.limit = known->limit;
    if (p.format != file_format::automatic) {
      throw std::invalid_argument(
          fmt::format("--format: the input '{}' is generated, not a file", r.input));
    }
  } else if (!r.points.empty()) {
    throw std::invalid_argument("--points: only a generated input takes a number of points");
  }
  override_with("--points", r.points, 1, p.points);
  override_with("--dimensions", r.dimensions, 1, p.dimensions);
  override_with("--k-min", r.k_min, 1, p.how.k_min);
  override_with("--k-max", r.k_max, 1, p.how.k_max);
  override_with("--chunk", r.chunk, 1, p.how.chunk);
  override_with("--limit", r.limit, 1, p.how.limit);
}

}  // namespace

std::unique_ptr<source> plan::open() const {
  return is_file ? open_points(input, format, dimensions) : generate(points, dimensions, seed);
}

plan make_plan(const request& r) {
  plan p;
  parse_input(r, p);
  p.seed = parse_integer("--seed", r.seed, 0, UINT64_MAX);
  p.how.seed = p.seed;
  p.repeat = parse_integer("--repeat", r.repeat, 1, 100000);
  check_wait(r.wait);
  const auto threads = parse_counts("--threads", r.threads, most_threads);
  rank_t ranks = 0;
  if (!r.ranks.empty()) {
    ranks = static_cast<rank_t>(parse_integer("--ranks", r.ranks, 1, 65536));
    const rank_t most = *std::max_element(threads.begin(), threads.end());
    if (ranks < most) {
      throw std::invalid_argument(
          fmt::format("--ranks: {} ranks are fewer than {} threads", ranks, most));
    }
  }
  const auto barriers = parse_barriers(r.barriers);
  for (const rank_t n : threads) {
    for (const auto& barrier : barriers) {
      p.settings.push_back(make_setting(barrier, r, n, ranks));
    }
  }
  return p;
}

}  // namespace tutti::streamcluster
