// SPDX-License-Identifier: Apache-2.0
// How long the successive waits, gaps or delays of a round are: all alike, or not.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace tutti::bench {

// constant: always `ns`. uniform: from 2/3 to 4/3 of it, which is a factor of two. alternating:
// nine times a tenth of it, then once the whole.
enum class course_kind { constant, uniform, alternating };

struct course {
  double ns = 0;
  course_kind kind = course_kind::constant;

  double longest() const { return kind == course_kind::uniform ? ns * 4 / 3 : ns; }
  double mean() const { return kind == course_kind::alternating ? ns * 0.19 : ns; }
};

// "", "_uniform", "_alternating": behind the time in the name of a scenario.
std::string_view suffix_of(course_kind kind);

inline double at(const course& c, std::uint64_t episode, std::mt19937_64& random) {
  switch (c.kind) {
    case course_kind::constant: break;
    case course_kind::uniform:
      return std::uniform_real_distribution<double>(c.ns * 2 / 3, c.ns * 4 / 3)(random);
    case course_kind::alternating: return episode % 10 == 9 ? c.ns : c.ns / 10;
  }
  return c.ns;
}

}  // namespace tutti::bench
