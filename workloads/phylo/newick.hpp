// SPDX-License-Identifier: Apache-2.0
// The Newick format of trees: ((a:0.1,b:0.2):0.3,c:0.1,'d e':0.2)label;
//
// Read are: comments in [], labels with or without quotes ('' is a quote in a quoted one), labels and lengths that
// inner nodes and the root may have (the root's are ignored), a rooted tree (root of two branches, which become one).
// Refused are nodes with one branch or more than two, as the likelihood needs a binary tree.
#pragma once

#include <string>
#include <string_view>

#include "phylo/tree.hpp"

namespace tutti::phylo {

// `file` is only named in errors (input_error). A branch without a length gets `default_length`.
tree parse_newick(std::string_view text, std::string_view file, double default_length = 0.1);

// With a root of three branches, and lengths that read back to the same bits.
std::string to_newick(const tree& t);

}  // namespace tutti::phylo
