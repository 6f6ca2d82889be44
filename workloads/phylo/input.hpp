// SPDX-License-Identifier: Apache-2.0
// What all readers of files share: an error that names file and line, and the whole file as text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti::phylo {

// A file's content is wrong. Its text is one sentence that begins with FILE:LINE.
class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where in a text, counted from 1; column 0 when only the line is meant.
struct text_place {
  std::size_t line = 1;
  std::size_t column = 0;
};

// Without line breaks, as an error is a line; they come from what is quoted in it.
std::string one_line(std::string text);

[[noreturn]] void refuse_input(std::string_view file, text_place where, std::string_view what);

// Throws std::runtime_error that names the file.
std::string read_file(const std::filesystem::path& file);

// The whole file or nothing: written beside it under another name, then renamed.
void write_file(const std::filesystem::path& file, std::string_view text);

// A character as it is shown in a sentence: 'x', or its code if it cannot be printed.
std::string shown(char c);

}  // namespace tutti::phylo
