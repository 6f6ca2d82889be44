// SPDX-License-Identifier: Apache-2.0
// tutti's own barriers, from the registry.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "barrier/providers.hpp"
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

// What `names` asks for out of `known`; `what` is for the error.
std::vector<std::string> choose(const std::vector<std::string>& names,
                                const std::vector<std::string>& known, std::string_view what) {
  std::vector<std::string> chosen;
  for (const auto& name : names) {
    if (name == "none") continue;
    if (name == "all") {
      chosen.insert(chosen.end(), known.begin(), known.end());
      continue;
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw std::invalid_argument(fmt::format("there is no {} '{}': use all, none, or some of {}",
                                              what, name, fmt::join(known, ", ")));
    }
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  }
  return chosen;
}

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

bool is_available(const std::string& wait) {
  for (const auto& info : wait_policies) {
    if (info.name == wait) return info.available();
  }
  return false;
}

}  // namespace

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names{std::string(default_algorithm),
                                 std::string(default_rankless_algorithm)};
  for (const auto& info : algorithms) names.emplace_back(info.name);
  return names;
}

std::vector<std::string> wait_names() {
  std::vector<std::string> names;
  for (const auto& info : wait_policies) names.emplace_back(info.name);
  return names;
}

std::vector<provider> choose_tutti(const std::vector<std::string>& algorithm_list,
                                   const std::vector<std::string>& wait_list) {
  const bool every_wait = std::find(wait_list.begin(), wait_list.end(), "all") != wait_list.end();
  const auto names = choose(algorithm_list, algorithm_names(), "algorithm");
  std::vector<provider> chosen;
  for (const auto& name : names) {
    if (is_default(name)) chosen.push_back(tutti_provider(name, "adaptive"));
  }
  for (const auto& wait : choose(wait_list, wait_names(), "wait policy")) {
    if (!is_available(wait)) {
      if (every_wait) continue;
      throw std::invalid_argument(
          fmt::format("the wait policy {} needs a CPU that this machine does not have", wait));
    }
    for (const auto& name : names) {
      if (!is_default(name)) chosen.push_back(tutti_provider(name, wait));
    }
  }
  return chosen;
}

}  // namespace tutti::bench
