// SPDX-License-Identifier: Apache-2.0
// Combines the values of idle() in the order of schedule::fold if the detector cannot combine them
// on their way, because the participants of a process are not a whole subtree of the fold. Once the
// episode is over, no participant can change its value any more: each process sends the values of
// its threads to process 0, which combines them by rank and sends the result to all. Until then
// idle() does not return.
#include <cstring>

#include "tutti/mpi/process.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::mpi {

void process::settle() {
  is_settling_ = true;
  std::vector<protocol::value_t> mine;
  for (const member_state& one : members_) mine.push_back(one.given.value);
  if (index_ != 0) return send_items(packet_kind::values, mine.data(), mine.size(), 0);
  take_values({.source = 0}, mine.data());
}

void process::take_values(const packet_header& header, const protocol::value_t* values) {
  const auto& ranks = where_.participants[header.source];
  for (std::size_t i = 0; i < ranks.size(); ++i) values_[ranks[i]] = values[i];
  values_missing_ -= ranks.size();
  if (values_missing_ != 0) return;
  values_missing_ = participants();
  const protocol::value_t all = schedule::fold(
      0, participants(), [this](rank_t rank) { return values_[rank]; }, members_[0].given.combine);
  for (std::uint32_t other = 1; other < processes(); ++other)
    send_items(packet_kind::result, &all, 1, other);
  take_result(all);
}

void process::take_result(const protocol::value_t& value) {
  outcome_.value = value;
  is_settling_ = false;
  end_episode();
}

}  // namespace tutti::mpi
