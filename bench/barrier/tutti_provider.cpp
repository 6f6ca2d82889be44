// SPDX-License-Identifier: Apache-2.0
// tutti's own barriers, from the registry.
#include "bench/barrier/providers.hpp"
#include "bench/harness/names.hpp"
#include "tutti/barrier/any.hpp"
#include "tutti/registry.hpp"

namespace tutti::bench {
namespace {

class tutti_subject final : public subject {
 public:
  tutti_subject(std::string_view algorithm, rank_t n, std::string_view wait)
      : barrier_(make_barrier(algorithm, n, wait)) {}
  void arrive_and_wait(rank_t rank) override { barrier_->arrive_and_wait(rank); }
  void episodes(rank_t rank, std::uint64_t count) override { barrier_->episodes(rank, count); }

 private:
  std::unique_ptr<any_barrier> barrier_;
};

std::string summary_of(const std::string& algorithm) {
  for (const auto& info : algorithms) {
    if (info.name == algorithm) return std::string(info.summary);
  }
  return "what tutti::barrier chooses";
}

provider tutti_provider(const std::string& name, const std::string& wait) {
  const auto make = [name, wait](rank_t n) -> std::unique_ptr<subject> {
    return std::make_unique<tutti_subject>(name, n, wait);
  };
  return {"tutti", name, wait, summary_of(name), make, "", {}};
}

// tutti::barrier has one way of waiting.
bool is_default(const std::string& name) {
  return name == default_algorithm || name == default_rankless_algorithm;
}

}  // namespace

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names{std::string(default_algorithm),
                                 std::string(default_rankless_algorithm)};
  for (const auto& info : algorithms) names.emplace_back(info.name);
  return names;
}

std::vector<provider> choose_tutti(const std::vector<std::string>& algorithm_list,
                                   const std::vector<std::string>& wait_list) {
  const auto names = choose_names(algorithm_list, algorithm_names(), "algorithm");
  std::vector<provider> chosen;
  for (const auto& name : names) {
    if (is_default(name)) chosen.push_back(tutti_provider(name, "adaptive"));
  }
  for (const auto& wait : choose_waits(wait_list)) {
    for (const auto& name : names) {
      if (!is_default(name)) chosen.push_back(tutti_provider(name, wait));
    }
  }
  return chosen;
}

}  // namespace tutti::bench
