// SPDX-License-Identifier: Apache-2.0
// Crews are made for one round each.
#include "bench/crew/serve.hpp"

#include "bench/crew/wire.hpp"

namespace tutti::bench {

using nlohmann::json;

crew_outcome run_round(const crew_request& request, const crew_makers& makers) {
  if (request.kind.inside) return run_round(request, *makers.meetings(request.size));
  return run_round(request, *makers.regions(request.size));
}

std::string check(const crew_request& request, const crew_makers& makers) {
  if (request.kind.inside) return check(request, *makers.meetings(request.size));
  return check(request, *makers.regions(request.size));
}

json crew_round_request(const crew_request& request) { return {{"crew_round", request}}; }

json crew_check_request(const crew_request& request) { return {{"crew_check", request}}; }

crew_outcome outcome_of_answer(const json& answer) {
  return answer.at("outcome").get<crew_outcome>();
}

std::string fault_of_answer(const json& answer) { return answer.at("fault").get<std::string>(); }

bool asks_for_crew(const json& asked) {
  return asked.contains("crew_round") || asked.contains("crew_check");
}

json answer_crew(const json& asked, const crew_makers& makers) {
  if (asked.contains("crew_check")) {
    return {{"fault", check(asked["crew_check"].get<crew_request>(), makers)}};
  }
  return {{"outcome", run_round(asked.at("crew_round").get<crew_request>(), makers)}};
}

}  // namespace tutti::bench
