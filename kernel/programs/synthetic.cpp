// SPDX-License-Identifier: Apache-2.0
// `synthetic`: the parallel regions of workloads/synthetic (Berger and Stamatakis 2010, section IV)
// on a team of the kernel's threads. `regions=N`, `length=M` (doubles in each vector of a rank),
// `threads=T`. Every region is verified.
#include <memory>
#include <vector>

#include "kernel/platform/hosted.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/team/on_platform.hpp"
#include "workloads/synthetic/vectors.hpp"

namespace tutti::kernel {

namespace {

struct alignas(cache_line) part {
  std::vector<double> v1, v2, v3;
  std::int64_t sum = 0;
  u64 regions = 0;
};

}  // namespace

bool run_synthetic(const char* line) {
  using member = basic_member<hosted_memory>;
  const u64 regions = text::number_of(line, "regions", 1000);
  const u64 length = text::number_of(line, "length", 0);
  const auto threads = static_cast<rank_t>(text::number_of(line, "threads", cores()));
  basic_team<hosted_memory> ranks(threads);
  std::vector<part> parts(threads);
  std::int64_t expected = 0;
  ranks.run([&](member& me) {
    part& mine = parts[me.rank()];
    mine.v1.resize(length);
    mine.v2.resize(length);
    mine.v3.resize(length);
    synthetic::numbers random(1);
    std::int64_t sum = 0;
    for (u64 i = 0; i < length; ++i) {
      mine.v1[i] = random.next();
      mine.v2[i] = random.next();
      sum += synthetic::floor_of(mine.v1[i] * mine.v2[i]);
    }
    if (me.rank() == 0) expected = sum;
  });

  checks all;
  const auto is_right = [&](u64 done) {
    for (const part& p : parts)
      if (p.sum != expected || p.regions != done) return false;
    return true;
  };
  bool right = true;
  u64 spent = 0;
  for (u64 done = 1; done <= regions && right; ++done) {
    const u64 begin = machine::ticks();
    ranks.run([&](member& me) {
      part& mine = parts[me.rank()];
      if (length > 0) mine.sum = synthetic::multiply_and_sum_floors({mine.v1, mine.v2, mine.v3});
      ++mine.regions;
    });
    spent += machine::ticks() - begin;
    right = is_right(done);
  }
  all.expect(right, "a rank found another sum, or did not take part");
  std::int64_t total = 0;
  ranks.run([&](member& me) {
    const auto sum = me.reduce(plus{}, parts[me.rank()].sum);
    if (me.rank() == 0) total = sum;
  });
  all.expect(total == static_cast<std::int64_t>(threads) * expected, "the reduction is wrong");
  print("{\"type\":\"synthetic\",\"threads\":", threads, ",\"length\":", length,
        ",\"regions\":", regions, ",\"sum\":", expected, ",\"", unit_of(line),
        "_per_region\":", regions == 0 ? 0 : spent / regions, "}");
  return all.report("synthetic");
}

}  // namespace tutti::kernel
