// SPDX-License-Identifier: Apache-2.0
// tutti's own barriers, from the registry.
#include "bench/contenders/contender.hpp"
#include "bench/harness/names.hpp"
#include "tutti/barrier/any.hpp"
#include "tutti/barrier/provider.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/registry.hpp"

namespace tutti::bench {
namespace {

class tutti_barrier final : public timed_barrier {
 public:
  tutti_barrier(std::string_view algorithm, rank_t n, std::string_view wait)
      : barrier_(make_barrier(algorithm, n, wait)) {}
  void arrive_and_wait(rank_t rank) override { barrier_->arrive_and_wait(rank); }
  void episodes(rank_t rank, std::uint64_t count) override { barrier_->episodes(rank, count); }

 private:
  std::unique_ptr<any_barrier> barrier_;
};

contender tutti_contender(const std::string& name, const std::string& wait) {
  return {
      .family = "tutti",
      .name = name,
      .summary = summary_of(name, "what tutti::barrier chooses"),
      .wait = wait,
      .barrier = [name, wait](rank_t n) { return std::make_unique<tutti_barrier>(name, n, wait); }};
}

// tutti::barrier and providers have one way of waiting.
bool decides_how_to_wait(const std::string& name) {
  return tutti::detail::find_by_name(algorithms, name) == nullptr;
}

}  // namespace

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names{std::string(default_algorithm),
                                 std::string(default_rankless_algorithm)};
  for (const auto& info : algorithms) names.emplace_back(info.name);
  for (const auto& added : barrier_provider_names()) names.push_back(added);
  return names;
}

std::vector<contender> choose_tutti(const std::vector<std::string>& algorithm_list,
                                    const std::vector<std::string>& wait_list) {
  const auto names = choose_names(algorithm_list, algorithm_names(), "algorithm");
  std::vector<contender> chosen;
  for (const auto& name : names) {
    if (decides_how_to_wait(name))
      chosen.push_back(tutti_contender(name, std::string(default_wait)));
  }
  for (const auto& wait : choose_waits(wait_list)) {
    for (const auto& name : names) {
      if (!decides_how_to_wait(name)) chosen.push_back(tutti_contender(name, wait));
    }
  }
  return chosen;
}

}  // namespace tutti::bench
