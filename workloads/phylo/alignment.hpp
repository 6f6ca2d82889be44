// SPDX-License-Identifier: Apache-2.0
// Alignments of DNA, read from PHYLIP (relaxed: names end at a blank; sequential or interleaved)
// and FASTA.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::phylo {

// The nucleotides that a character may stand for, one bit each: A 1, C 2, G 4, T 8. A gap may be
// any of them.
using state_set = std::uint8_t;
inline constexpr state_set any_state = 15;

// Returns 0 for a character that is not DNA. IUPAC codes may be in upper or lower case; U is T; N,
// X, O, ?, - and ~ are gaps.
state_set states_of(char c) noexcept;
char letter_of(state_set states) noexcept;

struct alignment {
  std::vector<std::string> names;
  // One row per name, all of the same length.
  std::vector<std::vector<state_set>> rows;

  std::size_t taxa() const noexcept { return names.size(); }
  std::size_t sites() const noexcept { return rows.empty() ? 0 : rows.front().size(); }
};

// Reads FASTA if the first character is '>', otherwise PHYLIP. `file` is only used in errors.
// Throws input_error.
alignment parse_alignment(std::string_view text, std::string_view file);

std::string to_phylip(const alignment& a);

}  // namespace tutti::phylo
