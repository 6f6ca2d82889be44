// SPDX-License-Identifier: Apache-2.0
// `streamcluster`: the workload of workloads/streamcluster on a team of the kernel's threads.
// `input=simsmall`, `threads=T`, `points=N` (all of the input's unless given). The fingerprint of
// the result is the one that `tutti-streamcluster` prints under Linux.
#include "workloads/streamcluster/streamcluster.hpp"

#include <string_view>

#include "kernel/platform/hosted.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "tutti/team/on_platform.hpp"

namespace tutti::kernel {

bool run_streamcluster(const char* line) {
  using namespace streamcluster;
  const named_input* input = nullptr;
  const bool is_named = text::value_of(line, "input") != nullptr;
  for (const named_input& each : named_inputs())
    if (is_named ? text::is_value(line, "input", each.name.data()) : each.name == "simsmall")
      input = &each;
  checks all;
  all.expect(input != nullptr, "the word input= names no input of the original");
  if (input == nullptr) return all.report("streamcluster");

  const auto threads = static_cast<rank_t>(text::number_of(line, "threads", cores()));
  const u64 points = text::number_of(line, "points", input->points);
  basic_team<hosted_memory> ranks(threads);
  const options how{
      .k_min = input->k_min, .k_max = input->k_max, .chunk = input->chunk, .limit = input->limit};
  const u64 begin = machine::ticks();
  const clustering found = cluster(ranks_of(ranks), *generate(points, input->dimensions, 1), how);
  const u64 spent = machine::ticks() - begin;
  print("{\"type\":\"streamcluster\",\"input\":\"", input->name.data(), "\",\"threads\":", threads,
        ",\"points\":", found.counts.points, ",\"centres\":", u64{found.size()},
        ",\"fingerprint\":\"", hex{fingerprint(found)}, "\",\"barriers\":", found.counts.barriers,
        ",\"reductions\":", found.counts.reductions, ",\"", unit_of(line), "\":", spent, "}");
  return all.report("streamcluster");
}

}  // namespace tutti::kernel
