// SPDX-License-Identifier: Apache-2.0
// Reads FASTA and PHYLIP.
#include "workloads/phylo/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "workloads/phylo/input.hpp"

namespace tutti::phylo {
namespace {

// The letter of each set of states, from no state to all.
constexpr std::string_view letters = "?ACMGRSVTWYHKDBN";
constexpr std::string_view blanks = " \t\r\f\v";

constexpr std::array<state_set, 256> make_table() {
  std::array<state_set, 256> table{};
  for (std::size_t set = 1; set < letters.size(); ++set) {
    const auto upper = static_cast<unsigned char>(letters[set]);
    table[upper] = table[upper + 32u] = static_cast<state_set>(set);
  }
  table['U'] = table['u'] = table['T'];
  for (const char c : std::string_view("XxOo?-~")) table[static_cast<unsigned char>(c)] = any_state;
  return table;
}
constexpr std::array<state_set, 256> table = make_table();

struct text_line {
  std::size_t number;
  std::string_view text;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(blanks) == text.npos; }

std::vector<text_line> lines_of(std::string_view text) {
  std::vector<text_line> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back({++number, text.substr(0, end)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view first_word(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_first_of(blanks));
}

// Appends the states written on a line or a part of it.
void append_states(std::string_view file, const text_line& line, std::string_view part,
                   std::string_view name, std::vector<state_set>& row) {
  for (const char& c : part) {
    if (blanks.find(c) != blanks.npos) continue;
    const state_set states = states_of(c);
    if (states == 0) {
      const auto column = static_cast<std::size_t>(&c - line.text.data()) + 1;
      refuse_input(file, {line.number, column},
                   fmt::format("{} in the sequence of '{}' is not a code of DNA", shown(c), name));
    }
    row.push_back(states);
  }
}

class names_seen {
 public:
  explicit names_seen(std::string_view file) : file_(file) {}
  void add(const std::string& name, std::size_t line) {
    const auto [first, is_new] = lines_.emplace(name, line);
    if (!is_new) {
      refuse_input(file_, {line},
                   fmt::format("the name '{}' is also on line {}", name, first->second));
    }
  }

 private:
  std::string_view file_;
  std::unordered_map<std::string, std::size_t> lines_;
};

alignment parse_fasta(const std::vector<text_line>& lines, std::string_view file) {
  alignment a;
  names_seen seen(file);
  std::vector<std::size_t> line_of_name;
  for (const text_line& line : lines) {
    if (is_blank(line.text)) continue;
    if (line.text.starts_with('>')) {
      const std::string name(first_word(line.text.substr(1)));
      if (name.empty()) refuse_input(file, {line.number}, "a sequence has no name after '>'");
      seen.add(name, line.number);
      a.names.push_back(name);
      a.rows.emplace_back();
      line_of_name.push_back(line.number);
    } else {
      append_states(file, line, line.text, a.names.back(), a.rows.back());
    }
  }
  for (std::size_t i = 0; i < a.taxa(); ++i) {
    if (a.rows[i].empty()) {
      refuse_input(file, {line_of_name[i]}, fmt::format("'{}' has no sequence", a.names[i]));
    }
    if (a.rows[i].size() != a.sites()) {
      refuse_input(file, {line_of_name[i]},
                   fmt::format("'{}' has {} sites, but '{}' has {}", a.names[i], a.rows[i].size(),
                               a.names[0], a.sites()));
    }
  }
  return a;
}

struct phylip_header {
  std::size_t taxa, sites;
};

phylip_header parse_header(const text_line& line, std::string_view file) {
  const auto number = [&](std::string_view word) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc{} && end == word.data() + word.size();
    return whole ? value : 0;
  };
  const std::string_view taxa = first_word(line.text);
  const auto rest =
      line.text.substr(static_cast<std::size_t>(taxa.data() - line.text.data()) + taxa.size());
  const std::string_view sites = first_word(rest);
  const phylip_header header{number(taxa), number(sites)};
  if (header.taxa == 0 || header.sites == 0) {
    refuse_input(
        file, {line.number},
        "this is neither FASTA, which begins with '>', nor PHYLIP, which begins with the numbers "
        "of taxa and of sites");
  }
  // Some programs name the layout here. The reader finds it in the lines.
  const auto more =
      rest.substr(static_cast<std::size_t>(sites.data() - rest.data()) + sites.size());
  const std::string_view layout = first_word(more);
  const bool known = layout.empty() || layout == "I" || layout == "S";
  const auto end =
      more.substr(static_cast<std::size_t>(layout.data() - more.data()) + layout.size());
  if (!known || !is_blank(end)) {
    refuse_input(file, {line.number},
                 fmt::format("the numbers of taxa and of sites may be followed by I or S, which "
                             "name the layout, but not by '{}'",
                             more.substr(more.find(layout))));
  }
  return header;
}

// Reads both PHYLIP layouts. `lines` has no blank ones. An interleaved file gives each taxon a line
// in turn.
class phylip_reader {
 public:
  phylip_reader(std::vector<text_line> lines, phylip_header header, std::string_view file)
      : lines_(std::move(lines)), header_(header), file_(file) {}

  alignment read(bool interleaved) {
    alignment a;
    names_seen seen(file_);
    std::vector<std::size_t> line_of_name;
    std::size_t turn = 0;
    for (const text_line& line : lines_) {
      std::string_view part = line.text;
      const bool starts = interleaved ? a.taxa() < header_.taxa
                                      : a.rows.empty() || a.rows.back().size() >= header_.sites;
      if (starts) {
        if (a.taxa() == header_.taxa) fail(line, "a line follows the last sequence");
        const std::string name(first_word(part));
        part.remove_prefix(static_cast<std::size_t>(part.find(name)) + name.size());
        seen.add(name, line.number);
        a.names.push_back(name);
        a.rows.emplace_back();
        line_of_name.push_back(line.number);
        turn = a.taxa() - 1;
      } else if (interleaved) {
        turn = (turn + 1) % header_.taxa;
      }
      append_states(file_, line, part, a.names[turn], a.rows[turn]);
      if (a.rows[turn].size() > header_.sites) {
        fail(line, fmt::format("'{}' has more than {} sites", a.names[turn], header_.sites));
      }
    }
    const text_line end{lines_.empty() ? 1 : lines_.back().number, {}};
    if (a.taxa() < header_.taxa) {
      fail(end, fmt::format("the file ends after {} of {} taxa", a.taxa(), header_.taxa));
    }
    for (std::size_t i = 0; i < a.taxa(); ++i) {
      if (a.rows[i].size() == header_.sites) continue;
      fail({line_of_name[i], {}}, fmt::format("'{}' has {} sites, but the first line says {}",
                                              a.names[i], a.rows[i].size(), header_.sites));
    }
    return a;
  }

 private:
  [[noreturn]] void fail(const text_line& line, std::string_view what) const {
    refuse_input(file_, {line.number}, what);
  }

  std::vector<text_line> lines_;
  phylip_header header_;
  std::string_view file_;
};

alignment parse_phylip(std::vector<text_line> lines, std::string_view file) {
  const phylip_header header = parse_header(lines.front(), file);
  lines.erase(lines.begin());
  // A file with one line per taxon has both layouts. Other files do not say which layout they have.
  // An interleaved file has more lines than taxa, a multiple of them, and a first line that is not
  // a whole sequence.
  const bool may_interleave = lines.size() > header.taxa && lines.size() % header.taxa == 0;
  phylip_reader reader(std::move(lines), header, file);
  std::optional<input_error> first;
  try {
    return reader.read(may_interleave);
  } catch (const input_error& e) {
    if (!may_interleave) throw;
    first = e;
  }
  try {
    return reader.read(false);
  } catch (const input_error&) {
    throw *first;
  }
}

}  // namespace

state_set states_of(char c) noexcept { return table[static_cast<unsigned char>(c)]; }
char letter_of(state_set states) noexcept { return letters[states & any_state]; }

alignment parse_alignment(std::string_view text, std::string_view file) {
  std::vector<text_line> lines = lines_of(text);
  std::erase_if(lines, [](const text_line& line) { return is_blank(line.text); });
  if (lines.empty()) refuse_input(file, {}, "the file has no alignment");
  if (lines.front().text.starts_with('>')) return parse_fasta(lines, file);
  return parse_phylip(std::move(lines), file);
}

std::string to_phylip(const alignment& a) {
  std::string text = fmt::format("{} {}\n", a.taxa(), a.sites());
  for (std::size_t i = 0; i < a.taxa(); ++i) {
    text += a.names[i] + ' ';
    for (const state_set states : a.rows[i]) text += letter_of(states);
    text += '\n';
  }
  return text;
}

}  // namespace tutti::phylo
