// SPDX-License-Identifier: Apache-2.0
// Rounds of crews in another process: what is asked, and the answer.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/crew/round.hpp"

namespace tutti::bench {

// Either may be empty: then the runtime has no such crew.
struct crew_makers {
  std::function<std::unique_ptr<region_crew>(const crew_size&)> regions;
  std::function<std::unique_ptr<meeting_crew>(const crew_size&)> meetings;
};

// A crew is made, used for one round or one check, and ended.
crew_outcome run_round(const crew_request& request, const crew_makers& makers);
std::string check(const crew_request& request, const crew_makers& makers);

// The same by a request to another process.
nlohmann::json crew_round_request(const crew_request& request);
nlohmann::json crew_check_request(const crew_request& request);
crew_outcome outcome_of_answer(const nlohmann::json& answer);
std::string fault_of_answer(const nlohmann::json& answer);

// The other process's side.
bool asks_for_crew(const nlohmann::json& asked);
nlohmann::json answer_crew(const nlohmann::json& asked, const crew_makers& makers);

}  // namespace tutti::bench
