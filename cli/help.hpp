// SPDX-License-Identifier: Apache-2.0
// The lines of a page of help.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::cli {

struct help_row {
  std::string name, meaning;
};

// The columns that a page of help may have: those of COLUMNS or of the terminal, at most 100; 80 if
// neither says.
std::size_t help_columns();

// The text in lines of at most so many columns, which are broken between words or, where one word
// is longer than a line, behind a comma. Lines behind the first one begin with `indent` spaces;
// `used` columns of the first one are taken.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t used = 0,
                    std::size_t indent = 0);

// The rows as two columns, each row on lines of its own.
std::string two_columns(const std::vector<help_row>& rows, std::size_t columns);

}  // namespace tutti::cli
