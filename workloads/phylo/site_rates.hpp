// SPDX-License-Identifier: Apache-2.0
// Rates by site, estimated on a tree: each column gets the rate of a grid under which it is most
// likely.
#pragma once

#include "tutti/team/team.hpp"
#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/model.hpp"
#include "workloads/phylo/tree.hpp"

namespace tutti::phylo {

// The grid has `categories` rates from 1/16 to 16 in equal ratios. The rates are then scaled so
// that their mean over the columns is 1.
site_rates estimate_site_rates(team& workers, const tree& t, const alignment& a,
                               const substitution& s, unsigned categories = 25);

std::string to_text(const site_rates& r);

}  // namespace tutti::phylo
