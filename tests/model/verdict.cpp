// SPDX-License-Identifier: Apache-2.0
// Runs a subject as it is written and with each memory order weakened, and judges the outcomes.
#include "tests/model/verdict.hpp"

#include <algorithm>
#include <initializer_list>

namespace tutti::model {
namespace {

constexpr std::string_view of_sleepers = "sleepers.";

std::vector<std::memory_order> weaker_than(std::memory_order order) {
  using enum std::memory_order;
  switch (order) {
    case seq_cst: return {acq_rel, acquire, release, relaxed};
    case acq_rel: return {acquire, release, relaxed};
    case acquire:
    case release: return {relaxed};
    default: return {};
  }
}

const exception* excuse_for(const mutant& m) {
  for (const exception& e : exceptions())
    if (e.site == m.original.name && e.weakened == name_of(m.weakened)) return &e;
  return nullptr;
}

bool belongs(const site& s, const subject& to) {
  const std::string_view name = s.name;
  return to.sites_of.empty() ? !name.starts_with(of_sleepers) : name.starts_with(to.sites_of);
}

// Runs every program as it is written. Records the first error.
void run_as_written(const subject& what, const effort& how, report& told) {
  sites.record();
  for (const program& p : what.programs) {
    const outcome random = explore(p, {.executions = how.executions});
    told.executions += random.executions;
    if (random.is != verdict::no_error) {
      explore(p, {.executions = 1, .first = random.executions, .show = true});
      told.failure =
          p.name + ": " + random.error + " in execution " + std::to_string(random.executions);
      return;
    }
    if (how.bounded_executions == 0) continue;
    const outcome bounded = explore(p, {.how = search::bounded,
                                        .executions = how.bounded_executions,
                                        .preemptions = how.preemptions});
    told.executions += bounded.executions;
    told.exhausted += bounded.is_complete;
    if (bounded.is != verdict::no_error) {
      told.failure = p.name + ": " + bounded.error + " in the systematic search";
      return;
    }
  }
}

// Returns false if the order does not exist for this operation.
bool try_mutant(const subject& what, const effort& how, trial& t) {
  sites.weaken(t.what);
  for (const program& p : what.programs) {
    const outcome o = explore(p, {.executions = how.mutant_executions});
    if (o.is == verdict::no_such_mutant) return false;
    if (o.is == verdict::no_error) continue;
    t.is_caught = true;
    t.error = o.error;
    t.program = p.name;
    t.execution = o.executions;
    return true;
  }
  return true;
}

}  // namespace

bool report::is_right() const {
  return failure.empty() &&
         std::all_of(trials.begin(), trials.end(), [](const trial& t) { return t.is_right(); });
}

report judge(const subject& what, const effort& how) {
  report told;
  told.subject = what.name;
  told.programs = what.programs.size();
  run_as_written(what, how, told);
  for (const site& s : sites)
    if (belongs(s, what)) told.sites.push_back(s);
  if (!told.failure.empty()) return told;

  for (const site& s : told.sites)
    for (const std::memory_order weakened : weaker_than(s.order)) {
      trial t;
      t.what = {s, weakened};
      if (!try_mutant(what, how, t)) continue;
      t.excuse = excuse_for(t.what);
      told.trials.push_back(std::move(t));
    }
  sites.weaken({});
  return told;
}

control_report judge(const control& what, const effort& how) {
  sites.weaken({});
  const outcome flawed = explore(what.flawed, {.executions = how.mutant_executions});
  const outcome sound = explore(what.sound, {.executions = how.mutant_executions});
  return {what.name, flawed.error, flawed.executions, sound.is == verdict::no_error};
}

}  // namespace tutti::model
