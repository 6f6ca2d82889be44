// SPDX-License-Identifier: Apache-2.0
// The Newick format of trees: ((a:0.1,b:0.2):0.3,c:0.1,'d e':0.2)label;
//
// The reader accepts comments in [], labels with or without quotes ('' is a quote in a quoted
// label), labels and lengths of inner nodes and of the root (the root's are ignored), and rooted
// trees (the root's two branches become one). It refuses nodes with one branch or more than two,
// because the likelihood needs a binary tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workloads/phylo/tree.hpp"

namespace tutti::phylo {

// `file` is only used in errors. A branch without a length gets `default_length`, and is refused if
// there is none. Throws input_error.
tree parse_newick(std::string_view text, std::string_view file,
                  std::optional<double> default_length = std::nullopt);

// Writes a root of three branches, and lengths that read back to the same bits.
std::string to_newick(const tree& t);

}  // namespace tutti::phylo
