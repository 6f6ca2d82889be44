// SPDX-License-Identifier: Apache-2.0
// How nucleotides change along a branch (GTR), and how fast sites change.
//
// P(t) = exp(Q r t) for a site of rate r. On average Q has one change per site and unit of length.
// GTR is reversible, so Q has real eigenvalues: P(t) = I + U (exp(D r t) - I) V, which keeps small
// probabilities exact for short branches.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::phylo {

// A, C, G, T.
inline constexpr std::size_t states = 4;
using vector4 = std::array<double, states>;
// By rows.
using matrix4 = std::array<double, states * states>;

struct substitution {
  // AC AG AT CG CT GT.
  std::array<double, 6> exchange{1, 1, 1, 1, 1, 1};
  vector4 frequencies{0.25, 0.25, 0.25, 0.25};
};

// The means of the categories of equal probability of a Gamma distribution with mean 1 (Yang 1994).
std::vector<double> gamma_rates(double alpha, unsigned categories);

class model {
 public:
  // Every site is a mixture of all rates, each with the same probability. {1}: all sites are alike.
  explicit model(const substitution& s, std::vector<double> rates = {1.0});
  // Every site has one rate (CAT); pattern_set says which.
  static model with_rates_by_site(const substitution& s, std::vector<double> rates);

  const substitution& parameters() const noexcept { return parameters_; }
  const std::vector<double>& rates() const noexcept { return rates_; }
  bool by_site() const noexcept { return by_site_; }
  // The number of rates of a pattern: all, or its own.
  std::size_t rates_of_pattern() const noexcept { return by_site_ ? 1 : rates_.size(); }
  double probability_of_rate() const noexcept {
    return 1.0 / static_cast<double>(rates_of_pattern());
  }

  const vector4& eigenvalues() const noexcept { return eigenvalues_; }
  // U: its columns are the eigenvectors.
  const matrix4& right() const noexcept { return right_; }
  // V, the inverse of U.
  const matrix4& left() const noexcept { return left_; }

  // Writes out[rate][from][to].
  void transitions(double length, std::span<double> out) const;

 private:
  substitution parameters_;
  std::vector<double> rates_;
  bool by_site_ = false;
  vector4 eigenvalues_{};
  matrix4 right_{}, left_{};
};

// A model as text: JC, K80{kappa}, HKY{kappa} or GTR{ac,ag,at,cg,ct,gt}; +F{a,c,g,t}; +G4{alpha}.
struct model_text {
  substitution parameters;
  std::vector<double> rates{1.0};
};
// Throws std::invalid_argument with a sentence that begins with the text.
model_text parse_model(std::string_view text);

// The rates by site of a file: one number per column of the alignment, separated by blanks. Equal
// numbers form one category.
struct site_rates {
  std::vector<double> rates;
  std::vector<std::uint16_t> rate_of_site;
};
inline constexpr std::size_t most_site_rates = 256;
site_rates parse_site_rates(std::string_view text, std::string_view file, std::size_t sites);

}  // namespace tutti::phylo
