// SPDX-License-Identifier: Apache-2.0
// Common parts of all readers of files: an error that names file and line, and a whole file as
// text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti::phylo {

// The content of a file is wrong. The error's text is one sentence that begins with FILE:LINE.
class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A place in a text, counted from 1. Column 0 stands for the whole line.
struct text_place {
  std::size_t line = 1;
  std::size_t column = 0;
};

// Removes line breaks, which quoted text may contain, because an error is one line.
std::string one_line(std::string text);

[[noreturn]] void refuse_input(std::string_view file, text_place where, std::string_view what);

// Throws std::runtime_error, which names the file.
std::string read_file(const std::filesystem::path& file);

// A character as a sentence shows it: 'x', or its code if it cannot be printed.
std::string shown(char c);

}  // namespace tutti::phylo
