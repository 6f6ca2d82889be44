// SPDX-License-Identifier: Apache-2.0
// A schedule as a table: for each participant a list of stages, each with the ranks that it must
// hear from and the ranks that it then signals. Executors that cannot use the templates (a network
// program, an RTL engine, an event simulator) run the table, and their tests compare with it. It is
// built from the same arithmetic that the barriers use.
#pragma once

#include <vector>

#include "tutti/schedule/dissemination.hpp"
#include "tutti/schedule/hypercube.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/schedule/tree.hpp"

namespace tutti::schedule {

struct stage {
  // The participant hears from all of these ranks first.
  std::vector<rank_t> await;
  // It then signals these.
  std::vector<rank_t> signal;
};
// The stages of one participant.
using program = std::vector<stage>;
// The programs of all participants, by rank.
using table = std::vector<program>;

// In stage k + 1 a rank awaits what its partners signalled in stage k.
inline program compile(const dissemination& s, rank_t rank) {
  program p(s.rounds() + 1);
  for (rank_t round = 0; round < s.rounds(); ++round)
    for (rank_t j = 1; j <= s.partners(round); ++j) {
      p[round].signal.push_back(s.to(round, rank, j));
      p[round + 1].await.push_back(s.from(round, rank, j));
    }
  return p;
}

// Arrivals travel up the tree `in` and the release travels down the tree `out`. Both trees must
// have the same number of ranks.
inline program compile(const tree& in, const tree& out, rank_t rank) {
  stage arrive, depart;
  for (rank_t place = 0; place < in.children(rank); ++place)
    arrive.await.push_back(in.child(rank, place));
  if (rank != 0) {
    arrive.signal.push_back(in.parent(rank));
    depart.await.push_back(out.parent(rank));
  }
  for (rank_t place = 0; place < out.children(rank); ++place)
    depart.signal.push_back(out.child(rank, place));
  return {arrive, depart};
}

// Losers report to winners. The release goes back the same way, from rank 0.
inline program compile(const tournament& s, rank_t rank) {
  stage arrive, depart;
  const rank_t won = s.rounds_won(rank);
  for (rank_t round = 0; round < won; ++round)
    if (s.has_opponent(round, rank)) arrive.await.push_back(s.opponent(round, rank));
  if (rank != 0) {
    arrive.signal.push_back(s.winner_over(rank));
    depart.await.push_back(s.winner_over(rank));
  }
  for (rank_t round = won; round-- > 0;)
    if (s.has_opponent(round, rank)) depart.signal.push_back(s.opponent(round, rank));
  return {arrive, depart};
}

// A folded rank signals its corner first and hears from it last.
inline program compile(const hypercube& s, rank_t rank) {
  if (s.is_folded(rank)) return {stage{{}, {s.corner_of(rank)}}, stage{{s.corner_of(rank)}, {}}};
  program p(s.rounds() + 1);
  if (s.has_folded(rank)) p.front().await.push_back(s.folded_of(rank));
  for (rank_t round = 0; round < s.rounds(); ++round) {
    p[round].signal.push_back(s.partner(round, rank));
    p[round + 1].await.push_back(s.partner(round, rank));
  }
  if (s.has_folded(rank)) p.back().signal.push_back(s.folded_of(rank));
  return p;
}

// The programs of all ranks.
template <class Schedule>
table compile(const Schedule& s) {
  table t(s.participants());
  for (rank_t rank = 0; rank < s.participants(); ++rank) t[rank] = compile(s, rank);
  return t;
}
inline table compile(const tree& in, const tree& out) {
  table t(in.participants());
  for (rank_t rank = 0; rank < in.participants(); ++rank) t[rank] = compile(in, out, rank);
  return t;
}

}  // namespace tutti::schedule
