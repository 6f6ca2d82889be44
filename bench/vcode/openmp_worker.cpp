// SPDX-License-Identifier: Apache-2.0
// Engine spmd inside a parallel region of an OpenMP runtime, with its barrier: a process of its
// own, as a runtime reads its settings when it is loaded.

#include "bench/harness/worker.hpp"
#include "bench/peers/openmp/runtime.hpp"
#include "bench/vcode/instruction.hpp"
#include "cli/json.hpp"

namespace {

using namespace tutti;

struct openmp_rank_barrier : vcode::spmd_run::rank_barrier {
  void arrive_and_wait(unsigned) override { tutti_openmp_barrier(); }
};

// {"threads", "count", "kind", "samples"} -> {"ns": [...]}
cli::json answer(const cli::json& asked) {
  const auto threads = asked.at("threads").get<unsigned>();
  const bench::nop_program program(bench::parse_nop_kind(asked.at("kind").get<std::string>()),
                                   asked.at("count").get<std::uint64_t>());
  openmp_rank_barrier barrier;
  const auto fork = [threads](const std::function<void(unsigned)>& body) {
    bench::run_openmp_region(threads, body);
  };
  std::vector<double> ns;
  for (int i = asked.at("samples").get<int>(); i > 0; --i) {
    ns.push_back(bench::time_instruction(program, threads, barrier, fork));
  }
  tutti_openmp_release();
  return {{"ns", ns}};
}

}  // namespace

int main() { return bench::answer_requests(answer); }
