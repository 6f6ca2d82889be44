// SPDX-License-Identifier: Apache-2.0
// Engine spmd inside a parallel region of an OpenMP runtime, with its barrier: a process of its own, as a runtime reads
// its settings when it is loaded.
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/barrier/peers/openmp_region.h"
#include "bench/harness/worker.hpp"
#include "bench/vcode/instruction.hpp"

namespace {

using namespace tutti;

struct openmp_meeting : vcode::spmd_run::rank_barrier {
  void arrive_and_wait(unsigned) override { tutti_openmp_barrier(); }
};

// {"threads", "count", "kind", "samples"} -> {"ns": [...]}
nlohmann::json answer(const nlohmann::json& asked) {
  const unsigned threads = asked.at("threads");
  const bench::nop_program program(bench::parse_nop_kind(asked.at("kind")), asked.at("count"));
  openmp_meeting meeting;
  const auto fork = [threads](const std::function<void(unsigned)>& body) {
    const auto call = [](void* object, unsigned rank) {
      (*static_cast<const std::function<void(unsigned)>*>(object))(rank);
    };
    void* const object = const_cast<void*>(static_cast<const void*>(&body));
    if (tutti_openmp_run(threads, call, object) != threads) {
      throw std::runtime_error("the runtime gave fewer threads than wanted");
    }
  };
  std::vector<double> ns;
  for (int i = asked.at("samples"); i > 0; --i) {
    ns.push_back(bench::time_instruction(program, threads, meeting, fork));
  }
  tutti_openmp_release();
  return {{"ns", ns}};
}

}  // namespace

int main() { return bench::serve(answer); }
