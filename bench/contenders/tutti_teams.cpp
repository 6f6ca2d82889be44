// SPDX-License-Identifier: Apache-2.0
// tutti::team as a runtime: its regions, run() and run_reduce(), and the barriers and reductions
// inside them.
#include <algorithm>
#include <array>
#include <span>

#include "bench/contenders/contender.hpp"
#include "bench/harness/names.hpp"
#include "bench/harness/placement.hpp"
#include "tutti/barrier/provider.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/team.hpp"

namespace tutti::bench {
namespace {

constexpr std::string_view default_name = "default";

// The barrier of a team; empty: its choice.
struct team_names {
  std::string algorithm;
  std::string wait;
};

// The harness places the threads, as it does for everybody.
team_options options_of(const runtime_options& size, const team_names& names) {
  team_options options;
  options.threads = size.threads;
  options.ranks = size.ranks;
  options.barrier = names.algorithm;
  options.wait = names.wait;
  options.place = platform::placement::none;
  return options;
}

// Puts the threads of a team on CPUs, the caller on the first. Several ranks may be fibers of one
// thread.
void place_threads(tutti::team& team, const std::vector<int>& cpus) {
  team.run([&](member& me) {
    pin_this_thread(cpus.empty() ? any_cpu : cpus[me.thread() % cpus.size()]);
  });
}

class tutti_regions final : public region_runtime_base<tutti_regions> {
 public:
  tutti_regions(const runtime_options& size, const team_names& names)
      : team_(options_of(size, names)) {}

  void place(const std::vector<int>& cpus) override { place_threads(team_, cpus); }

  template <class Body>
  void fork(Body body) {
    team_.run([body](member& me) { body(me.rank()); });
  }
  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    const auto sum = team_.run_reduce(plus{}, [body](member& me) {
      const pair_of_doubles mine = body(me.rank());
      return std::array{mine.first, mine.last};
    });
    return {sum[0], sum[1]};
  }
  void loops(std::uint64_t count, const axpy_loop& loop) override {
    const auto [a, x, y, elements, ranks] = loop;
    // The names are captured anew, because clang before 16 captures no structured bindings.
    for (std::uint64_t i = 0; i < count; ++i)
      team_.parallel_for(0, elements, [a = a, x = x, y = y](std::size_t k) { y[k] += a * x[k]; });
  }

 private:
  tutti::team team_;
};

class tutti_rank final : public runtime_rank {
 public:
  explicit tutti_rank(member& me) : runtime_rank(me.rank()), me_(me) {}

  void barriers(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) me_.barrier();
  }

  void reductions(std::uint64_t count, tutti_checksum& mine) override {
    if (mine.width == 1) return numbers(count, mine);
    if (mine.width == 2) return pairs(count, mine);
    vectors(count, mine);
  }

 private:
  void numbers(std::uint64_t count, tutti_checksum& mine) {
    for (std::uint64_t i = 0; i < count; ++i) {
      mine.out[0] = me_.reduce(plus{}, tutti_checksum_next(&mine));
      tutti_checksum_collect(&mine, mine.out[0], mine.out[0]);
    }
  }

  void pairs(std::uint64_t count, tutti_checksum& mine) {
    std::array<double, 2> sum{};
    for (std::uint64_t i = 0; i < count; ++i) {
      sum = me_.reduce(plus{}, std::array{tutti_checksum_next(&mine), mine.in[1]});
      tutti_checksum_collect(&mine, sum[0], sum[1]);
    }
    std::copy(sum.begin(), sum.end(), mine.out);
  }

  void vectors(std::uint64_t count, tutti_checksum& mine) {
    const std::span out(mine.out, mine.width);
    for (std::uint64_t i = 0; i < count; ++i) {
      mine.in[0] = tutti_checksum_next(&mine);
      std::copy_n(mine.in, mine.width, mine.out);
      me_.reduce(plus{}, out);
      tutti_checksum_collect(&mine, out.front(), out.back());
    }
  }

  member& me_;
};

class tutti_collectives final : public collective_runtime {
 public:
  tutti_collectives(const runtime_options& size, const team_names& names)
      : team_(options_of(size, names)) {}

  void place(const std::vector<int>& cpus) override { place_threads(team_, cpus); }

  void enter(const std::function<void(runtime_rank&)>& body) override {
    team_.run([&](member& me) {
      tutti_rank rank(me);
      body(rank);
    });
  }

 private:
  tutti::team team_;
};

contender team_contender(const std::string& name, const std::string& wait) {
  const team_names names{name == default_name ? "" : name, wait};
  return {.family = "tutti",
          .name = name,
          .summary = summary_of(name, "what tutti::team chooses"),
          .wait = wait,
          .regions =
              [names](const runtime_options& size) {
                return std::make_unique<tutti_regions>(size, names);
              },
          .collectives =
              [names](const runtime_options& size) {
                return std::make_unique<tutti_collectives>(size, names);
              },
          .has_fibers = true};
}

}  // namespace

std::vector<contender> choose_teams(const std::vector<std::string>& algorithm_list,
                                    const std::vector<std::string>& wait_list) {
  std::vector<std::string> known{std::string(default_name)};
  for (const auto& info : algorithms) known.emplace_back(info.name);
  const auto added = barrier_provider_names();
  known.insert(known.end(), added.begin(), added.end());
  const auto names = choose_names(algorithm_list, known, "barrier of teams");
  std::vector<contender> chosen;
  // The default and providers have one way of waiting.
  const auto is_of_the_registry = [](const std::string& name) {
    return tutti::detail::find_by_name(algorithms, name) != nullptr;
  };
  for (const auto& name : names) {
    if (!is_of_the_registry(name))
      chosen.push_back(team_contender(name, std::string(default_wait)));
  }
  for (const auto& wait : choose_waits(wait_list)) {
    for (const auto& name : names) {
      if (is_of_the_registry(name)) chosen.push_back(team_contender(name, wait));
    }
  }
  return chosen;
}

}  // namespace tutti::bench
