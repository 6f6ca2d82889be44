// SPDX-License-Identifier: Apache-2.0
// Estimates rates by site.
#include "workloads/phylo/site_rates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "workloads/phylo/likelihood.hpp"

namespace tutti::phylo {

site_rates estimate_site_rates(team& workers, const tree& t, const alignment& a,
                               const substitution& s, unsigned categories) {
  if (categories < 2 || categories > most_site_rates) {
    throw std::invalid_argument(
        fmt::format("the number of rates must be 2 to {}", most_site_rates));
  }
  const pattern_set patterns = compress(a, t);
  std::vector<double> best(patterns.blocks * lanes, -std::numeric_limits<double>::infinity());
  std::vector<std::uint16_t> rate_of_slot(best.size());
  site_rates result;
  for (unsigned i = 0; i < categories; ++i) {
    const double rate = std::exp2(-4.0 + 8.0 * i / (categories - 1));
    result.rates.push_back(rate);
    const model m(s, {rate});
    tree scratch = t;
    const std::vector<double> here =
        likelihood(workers, scratch, patterns, m).pattern_log_likelihoods();
    for (std::size_t slot = 0; slot < best.size(); ++slot) {
      if (!(here[slot] > best[slot])) continue;
      best[slot] = here[slot];
      rate_of_slot[slot] = static_cast<std::uint16_t>(i);
    }
  }
  double sum = 0;
  for (const std::uint32_t slot : patterns.slot_of_site) {
    result.rate_of_site.push_back(rate_of_slot[slot]);
    sum += result.rates[rate_of_slot[slot]];
  }
  const double mean = sum / static_cast<double>(a.sites());
  for (double& rate : result.rates) rate /= mean;
  return result;
}

std::string to_text(const site_rates& r) {
  std::string text;
  for (const std::uint16_t rate : r.rate_of_site) text += fmt::format("{}\n", r.rates[rate]);
  return text;
}

}  // namespace tutti::phylo
