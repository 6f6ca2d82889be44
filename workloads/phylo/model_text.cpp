// SPDX-License-Identifier: Apache-2.0
// Parses models and rates.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>

#include "workloads/phylo/input.hpp"
#include "workloads/phylo/model.hpp"

namespace tutti::phylo {
namespace {

[[noreturn]] void refuse_model(std::string_view text, std::string_view what) {
  throw std::invalid_argument(one_line(fmt::format("'{}': {}", text, what)));
}

bool read_number(std::string_view word, double& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size() && std::isfinite(value);
}

// NAME{number,number,...}; the braces may be absent.
struct component {
  std::string_view name;
  std::vector<double> numbers;
};

component parse_component(std::string_view part, std::string_view whole) {
  const std::size_t brace = part.find('{');
  component c{part.substr(0, brace), {}};
  if (brace == part.npos) return c;
  if (!part.ends_with('}')) refuse_model(whole, fmt::format("'{}' does not end with '}}'", part));
  std::string_view list = part.substr(brace + 1, part.size() - brace - 2);
  while (true) {
    const std::size_t comma = list.find(',');
    double value = 0;
    if (!read_number(list.substr(0, comma), value) || value <= 0) {
      refuse_model(whole, fmt::format("'{}' is not a positive number", list.substr(0, comma)));
    }
    c.numbers.push_back(value);
    if (comma == list.npos) return c;
    list.remove_prefix(comma + 1);
  }
}

// Finds the end of a component: the next '+' that is not inside braces, unlike that of 1e+5.
std::size_t end_of_component(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') inside = true;
    if (text[i] == '}') inside = false;
    if (text[i] == '+' && !inside) return i;
  }
  return text.size();
}

void need(std::size_t count, const component& c, std::string_view example, std::string_view whole) {
  if (c.numbers.size() == count) return;
  refuse_model(whole, fmt::format("{} has {} numbers where {} are needed, as in {}", c.name,
                                  c.numbers.size(), count, example));
}

void apply(const component& c, bool first, std::string_view whole, model_text& m) {
  if (first && c.name == "JC") {
    need(0, c, "JC", whole);
  } else if (first && (c.name == "K80" || c.name == "HKY")) {
    need(1, c, "HKY{2.5}", whole);
    m.parameters.exchange = {1, c.numbers[0], 1, 1, c.numbers[0], 1};
  } else if (first && c.name == "GTR") {
    need(6, c, "GTR{1,2,1,1,2,1} (AC, AG, AT, CG, CT, GT)", whole);
    std::copy(c.numbers.begin(), c.numbers.end(), m.parameters.exchange.begin());
  } else if (!first && c.name == "F") {
    need(4, c, "F{0.3,0.2,0.2,0.3} (A, C, G, T)", whole);
    std::copy(c.numbers.begin(), c.numbers.end(), m.parameters.frequencies.begin());
    double sum = 0;
    for (const double f : c.numbers) sum += f;
    if (std::abs(sum - 1) > 1e-3) refuse_model(whole, fmt::format("frequencies sum to {}", sum));
  } else if (!first && c.name.starts_with('G')) {
    const std::string_view count = c.name.substr(1);
    double categories = 4;
    if (!count.empty() && !read_number(count, categories)) {
      refuse_model(whole, fmt::format("'{}' is not known; Gamma is written G4{{0.5}}", c.name));
    }
    need(1, c, "G4{0.5} (alpha)", whole);
    if (categories < 1 || categories > 64 || categories != std::floor(categories)) {
      refuse_model(whole, "the number of Gamma categories must be 1 to 64");
    }
    try {
      m.rates = gamma_rates(c.numbers[0], static_cast<unsigned>(categories));
    } catch (const std::invalid_argument& e) {
      refuse_model(whole, e.what());
    }
  } else {
    refuse_model(whole, fmt::format("'{}' is not known; models are JC, K80{{k}}, HKY{{k}}, "
                                    "GTR{{a,b,c,d,e,f}}, then +F{{a,c,g,t}}, +G4{{alpha}}",
                                    c.name));
  }
}

}  // namespace

model_text parse_model(std::string_view text) {
  model_text m;
  std::string_view rest = text;
  std::vector<std::string_view> seen;
  while (true) {
    const std::size_t plus = end_of_component(rest);
    const component c = parse_component(rest.substr(0, plus), text);
    const std::string_view kind = c.name.substr(0, seen.empty() ? c.name.size() : 1);
    for (const std::string_view other : seen) {
      if (kind == other) refuse_model(text, fmt::format("'{}' is given twice", c.name));
    }
    apply(c, seen.empty(), text, m);
    seen.push_back(kind);
    if (plus == rest.size()) return m;
    rest.remove_prefix(plus + 1);
  }
}

site_rates parse_site_rates(std::string_view text, std::string_view file, std::size_t sites) {
  site_rates result;
  std::map<double, std::uint16_t> category_of;
  std::size_t line = 1;
  std::size_t position = 0;
  constexpr std::string_view blanks = " \t\r\n";
  while (position < text.size()) {
    if (blanks.find(text[position]) != blanks.npos) {
      line += text[position++] == '\n' ? 1 : 0;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(blanks, position), text.size());
    const std::string_view word = text.substr(position, end - position);
    position = end;
    double rate = 0;
    if (!read_number(word, rate) || rate < 0) {
      refuse_input(file, {line},
                   fmt::format("'{}' is not a rate, which is a number of at least 0", word));
    }
    if (result.rate_of_site.size() == sites) {
      refuse_input(file, {line}, fmt::format("there are more rates than the {} sites", sites));
    }
    const auto [found, is_new] =
        category_of.emplace(rate, static_cast<std::uint16_t>(result.rates.size()));
    if (is_new) result.rates.push_back(rate);
    if (result.rates.size() > most_site_rates) {
      refuse_input(file, {line}, fmt::format("more than {} different rates", most_site_rates));
    }
    result.rate_of_site.push_back(found->second);
  }
  if (result.rate_of_site.size() < sites) {
    refuse_input(file, {line},
                 fmt::format("{} rates for {} sites", result.rate_of_site.size(), sites));
  }
  return result;
}

}  // namespace tutti::phylo
