// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tutti::cli {
namespace {

constexpr std::size_t least_columns = 40, usual_columns = 80, most_columns = 100;
// Where the meanings begin.
constexpr std::size_t meaning_column = 26;

std::size_t columns_of_terminal() {
  if (const char* const text = std::getenv("COLUMNS")) {
    const std::string_view said = text;
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), columns);
    if (error == std::errc{} && end == said.data() + said.size() && columns > 0) return columns;
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return usual_columns;
}

}  // namespace

std::size_t help_columns() {
  return std::clamp(columns_of_terminal(), least_columns, most_columns);
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t used,
                    std::size_t indent) {
  std::string made;
  bool is_first_of_line = true;
  const auto next_line = [&] {
    made += "\n" + std::string(indent, ' ');
    used = indent;
    is_first_of_line = true;
  };
  std::string_view rest = text;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty()) return made;
    std::string_view word = rest.substr(0, rest.find(' '));
    const std::size_t space = is_first_of_line ? 0 : 1;
    if (used + space + word.size() > columns && !is_first_of_line) {
      next_line();
      continue;
    }
    if (used + word.size() > columns) {
      const std::size_t comma = word.substr(0, columns - std::min(used, columns)).rfind(',');
      if (comma != word.npos) word = word.substr(0, comma + 1);
    }
    made += std::string(space, ' ') + std::string(word);
    used += space + word.size();
    rest.remove_prefix(word.size());
    is_first_of_line = false;
    if (!rest.empty() && rest.front() != ' ') next_line();
  }
}

std::string two_columns(const std::vector<help_row>& rows, std::size_t columns) {
  std::string made;
  for (const auto& [name, meaning] : rows) {
    made += "  " + name;
    if (!meaning.empty()) {
      const std::size_t used = 2 + name.size();
      made += used + 2 <= meaning_column ? std::string(meaning_column - used, ' ')
                                         : "\n" + std::string(meaning_column, ' ');
      made += wrapped(meaning, columns, meaning_column, meaning_column);
    }
    made += "\n";
  }
  return made;
}

}  // namespace tutti::cli
