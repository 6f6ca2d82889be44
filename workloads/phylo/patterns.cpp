// SPDX-License-Identifier: Apache-2.0
// Compresses an alignment into patterns.
#include "workloads/phylo/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "workloads/phylo/input.hpp"

namespace tutti::phylo {
namespace {

// The row of each tip.
std::vector<std::size_t> match(const alignment& a, const tree& t, std::string_view alignment_file,
                               std::string_view tree_file) {
  std::unordered_map<std::string_view, std::size_t> row_of;
  for (std::size_t row = 0; row < a.taxa(); ++row) row_of.emplace(a.names[row], row);
  std::vector<std::size_t> rows;
  for (const std::string& name : t.names) {
    const auto found = row_of.find(name);
    if (found == row_of.end()) {
      throw input_error(fmt::format("{}: taxon '{}' of {} is not in this alignment", alignment_file,
                                    name, tree_file));
    }
    rows.push_back(found->second);
    row_of.erase(found);
  }
  for (const std::string& name : a.names) {
    if (row_of.contains(name)) {
      throw input_error(
          fmt::format("{}: taxon '{}' of {} is not in this tree", tree_file, name, alignment_file));
    }
  }
  return rows;
}

}  // namespace

pattern_set compress(const alignment& a, const tree& t, std::span<const std::uint16_t> rate_of_site,
                     std::string_view alignment_file, std::string_view tree_file) {
  const std::vector<std::size_t> rows = match(a, t, alignment_file, tree_file);
  if (!rate_of_site.empty() && rate_of_site.size() != a.sites()) {
    throw std::invalid_argument("compress: one rate category a site is needed");
  }
  // The patterns of each category, in the order of their first column.
  struct seen_pattern {
    std::size_t first_site;
    std::vector<std::size_t> sites;
  };
  std::map<std::uint16_t, std::vector<seen_pattern>> categories;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t site = 0; site < a.sites(); ++site) {
    const std::uint16_t category = rate_of_site.empty() ? std::uint16_t{0} : rate_of_site[site];
    std::string key{static_cast<char>(category & 255), static_cast<char>(category >> 8)};
    for (const std::size_t row : rows) key += static_cast<char>(a.rows[row][site]);
    auto& group = categories[category];
    const auto [found, is_new] = index.emplace(std::move(key), group.size());
    if (is_new) group.push_back({site, {}});
    group[found->second].sites.push_back(site);
  }

  pattern_set p;
  p.patterns = index.size();
  for (const auto& [category, group] : categories) {
    const std::size_t blocks = (group.size() + lanes - 1) / lanes;
    p.blocks += blocks;
    if (!rate_of_site.empty()) p.rate_of_block.insert(p.rate_of_block.end(), blocks, category);
  }
  p.weights.assign(p.blocks * lanes, 0.0);
  p.states.assign(t.tips(), std::vector<state_set>(p.blocks * lanes, any_state));
  p.slot_of_site.resize(a.sites());
  std::size_t slot = 0;
  for (const auto& [category, group] : categories) {
    for (const seen_pattern& pattern : group) {
      p.weights[slot] = static_cast<double>(pattern.sites.size());
      for (const std::size_t site : pattern.sites) {
        p.slot_of_site[site] = static_cast<std::uint32_t>(slot);
      }
      for (std::size_t tip = 0; tip < rows.size(); ++tip) {
        p.states[tip][slot] = a.rows[rows[tip]][pattern.first_site];
      }
      ++slot;
    }
    slot = (slot + lanes - 1) / lanes * lanes;
  }
  return p;
}

}  // namespace tutti::phylo
