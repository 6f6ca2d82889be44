// SPDX-License-Identifier: Apache-2.0
// Requests to a process, and runtimes that live for one of them.
#include "bench/contenders/peer_server.hpp"

#include "bench/harness/protocol.hpp"
#include "bench/harness/runtime_round.hpp"
#include "bench/harness/worker.hpp"

namespace tutti::bench {
namespace {

runtime_options options_of(const round_request& request) {
  return {request.threads, request.ranks, request.cpus};
}

}  // namespace

round_outcome run_runtime_round(const round_request& request, const contender& who) {
  const runtime_options size = options_of(request);
  if (request.what.what == operation::region) return run_round(request, *who.regions(size));
  return run_round(request, *who.collectives(size));
}

std::string check_runtime(const round_request& request, const contender& who) {
  const runtime_options size = options_of(request);
  if (request.what.what == operation::region) return check(request, *who.regions(size));
  return check(request, *who.collectives(size));
}

peer_server::barrier_threads& peer_server::threads_for(const round_request& request) {
  barrier_threads& found = threads_[request.threads];
  if (found.threads == nullptr) {
    found.threads = who_.own_threads(request.threads);
    found.barrier = who_.barrier(request.threads);
  }
  return found;
}

cli::json peer_server::answer(const cli::json& asked) {
  const bool checks = asked.contains("check");
  const auto request = asked.at(checks ? "check" : "round").get<round_request>();
  if (request.what.what != operation::barrier) {
    if (checks) return {{"fault", check_runtime(request, who_)}};
    return {{"outcome", run_runtime_round(request, who_)}};
  }
  auto& [threads, barrier] = threads_for(request);
  if (checks) return {{"fault", check_barrier(request, *threads, *barrier)}};
  return {{"outcome", run_round(request, *threads, *barrier, neighbours_)}};
}

int serve(contender who) {
  peer_server server(std::move(who));
  return answer_requests([&](const cli::json& asked) { return server.answer(asked); });
}

}  // namespace tutti::bench
