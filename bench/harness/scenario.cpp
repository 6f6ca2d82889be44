// SPDX-License-Identifier: Apache-2.0
// Names of scenarios.
#include "bench/harness/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace tutti::bench {
namespace {

constexpr double longest_delay_ns = 1e9;
constexpr unsigned most_each = 64;
constexpr unsigned usual_light_each = 3;
constexpr double least_quota = 0.1;
constexpr double most_quota = 1024;

[[noreturn]] void bad_scenario(std::string_view text) {
  throw std::invalid_argument(
      fmt::format("there is no scenario '{}': use {}", text, scenario_grammar()));
}

bool is_taken(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

bool is_taken_from_end(std::string_view& rest, std::string_view suffix) {
  if (!rest.ends_with(suffix)) return false;
  rest.remove_suffix(suffix.size());
  return true;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// 0: `text` is no such time.
double read_time(std::string_view text) {
  double factor = 0;
  if (is_taken_from_end(text, "ns")) {
    factor = 1;
  } else if (is_taken_from_end(text, "us")) {
    factor = 1e3;
  } else if (is_taken_from_end(text, "ms")) {
    factor = 1e6;
  }
  double number = 0;
  if (!read(text, number)) return 0;
  const double ns = number * factor;
  return ns > 0 && ns <= longest_delay_ns ? ns : 0;
}

course read_course(std::string_view text) {
  course c;
  for (const auto kind : {course_kind::uniform, course_kind::alternating}) {
    if (is_taken_from_end(text, suffix_of(kind))) {
      c.kind = kind;
      break;
    }
  }
  c.ns = read_time(text);
  return c;
}

// What a part of a scenario's name sets; parts of one kind exclude each other.
enum class part { nothing, waits, gap, neighbours, quota };

bool read_neighbours(std::string_view text, scenario& s) {
  neighbour_kind busy = neighbour_kind::none;
  unsigned each = 0;
  const std::size_t times = text.rfind("_x");
  if (times != std::string_view::npos) {
    if (!read(text.substr(times + 2), each) || each < 1 || each > most_each) return false;
    text = text.substr(0, times);
  }
  if (text == "neighbour_one") busy = neighbour_kind::one;
  if (text == "neighbour_all") busy = neighbour_kind::all;
  if (text == "background_heavy") busy = neighbour_kind::heavy;
  if (text == "background_light") busy = neighbour_kind::light;
  if (busy == neighbour_kind::none) return false;
  if (each == 0) each = busy == neighbour_kind::light ? usual_light_each : 1;
  s.busy = busy;
  s.each = each;
  return true;
}

bool read_waits(std::string_view text, scenario& s) {
  if (is_taken(text, "skew_")) {
    s.skew_ns = read_time(text);
    return s.skew_ns > 0;
  }
  if (is_taken(text, "work_")) {
    const std::size_t middle = text.find('_');
    if (middle == std::string_view::npos) return false;
    s.least_work_ns = read_time(text.substr(0, middle));
    s.most_work_ns = read_time(text.substr(middle + 1));
    return s.least_work_ns > 0 && s.least_work_ns <= s.most_work_ns;
  }
  if (!is_taken(text, "imbalance_")) return false;
  s.rotating = is_taken_from_end(text, "_rotating");
  s.late = read_course(text);
  return s.late.ns > 0;
}

part read_part(std::string_view text, scenario& s) {
  if (read_waits(text, s)) return part::waits;
  if (read_neighbours(text, s)) return part::neighbours;
  if (is_taken(text, "gap_")) {
    s.gap = read_course(text);
    return s.gap.ns > 0 ? part::gap : part::nothing;
  }
  if (is_taken(text, "quota_") && read(text, s.quota_cpus)) {
    const bool good = s.quota_cpus >= least_quota && s.quota_cpus <= most_quota;
    return good ? part::quota : part::nothing;
  }
  return part::nothing;
}

scenario read_phases(std::string_view text, std::string_view whole) {
  scenario s;
  s.name = whole;
  if (is_taken(text, "imbalance_")) {
    s.phases = phase_kind::long_waits;
    s.late.ns = read_time(text);
  } else if (is_taken(text, "to_imbalance_")) {
    s.phases = phase_kind::short_waits;
    s.late.ns = read_time(text);
  } else if (read_neighbours(text, s) && s.busy != neighbour_kind::light) {
    s.phases = phase_kind::neighbours;
    return s;
  }
  if (s.late.ns <= 0) bad_scenario(whole);
  return s;
}

}  // namespace

std::string_view suffix_of(course_kind kind) {
  switch (kind) {
    case course_kind::constant: return "";
    case course_kind::uniform: return "_uniform";
    case course_kind::alternating: return "_alternating";
  }
  return "";
}

std::string_view scenario_grammar() {
  return "free, skew_TIME, imbalance_TIME[_uniform|_alternating][_rotating], work_TIME_TIME, "
         "gap_TIME[_uniform|_alternating], neighbour_one, neighbour_all, background_light or "
         "background_heavy (each with _xN for N processes a CPU), quota_CPUS; joined by '+' where "
         "they are of different kinds; or recover_neighbour_one, recover_neighbour_all, "
         "recover_background_heavy, recover_imbalance_TIME, recover_to_imbalance_TIME; with a TIME "
         "such as 500ns, 10us or 1ms (at most 1000ms)";
}

double parse_time_ns(std::string_view text) {
  const double ns = read_time(text);
  if (ns > 0) return ns;
  throw std::invalid_argument(
      fmt::format("'{}' is not a time such as 500ns, 10us or 1ms (at most 1000ms)", text));
}

std::string time_text(double ns) {
  if (ns >= 1e6) return fmt::format("{}ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{}us", ns / 1e3);
  return fmt::format("{}ns", ns);
}

scenario parse_scenario(std::string_view text) {
  if (std::string_view rest = text; is_taken(rest, "recover_")) return read_phases(rest, text);
  scenario s;
  s.name = text;
  if (text == "free") return s;
  std::vector<part> found;
  for (std::string_view rest = text;;) {
    const std::size_t plus = rest.find('+');
    const part kind = read_part(rest.substr(0, plus), s);
    if (kind == part::nothing || std::count(found.begin(), found.end(), kind) > 0) {
      bad_scenario(text);
    }
    found.push_back(kind);
    if (plus == std::string_view::npos) break;
    rest.remove_prefix(plus + 1);
  }
  // One order, so that one situation has one name.
  if (!std::is_sorted(found.begin(), found.end())) {
    throw std::invalid_argument(fmt::format(
        "the parts of scenario '{}' are in another order than waits, gap, neighbours, quota",
        text));
  }
  return s;
}

std::string words_of(const scenario& s) {
  if (s.busy == neighbour_kind::none) return s.name;
  return s.name + (s.own_session ? " (sessions of their own)" : " (same session)");
}

neighbour_plan neighbours_of(const scenario& s, const std::vector<int>& cores) {
  neighbour_plan plan;
  if (s.busy == neighbour_kind::none) return plan;
  plan.cpus = s.busy == neighbour_kind::one ? std::vector{cores.front()} : cores;
  plan.each = s.each;
  plan.light = s.busy == neighbour_kind::light;
  plan.own_session = s.own_session;
  return plan;
}

double disturbed_round_ns(const scenario& s) {
  if (s.quota_cpus > 0) return 200e6;  // two periods of the quota
  if (s.busy == neighbour_kind::light) return 120e6;
  return s.busy == neighbour_kind::none ? 0 : 80e6;
}

}  // namespace tutti::bench
