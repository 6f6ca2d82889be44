// SPDX-License-Identifier: Apache-2.0
// Whether memory holds a barrier that can be used.
#include "src/shared/segment.hpp"

#include "src/shared/errors.hpp"

namespace tutti::detail::shared {

void check(const void* memory, std::size_t bytes, const std::string& what) {
  const auto* const head = static_cast<const header*>(memory);
  // acquire: pairs with segment::build().
  if (bytes < sizeof(header) || head->kind.load(acquire) != header::magic)
    fail(reason::other_kind, what + " is no barrier of tutti");
  if (head->version != header::layout)
    fail(reason::other_kind, what + " was made by another version of tutti: its layout is number " +
                                 std::to_string(head->version) + ", and this version knows " +
                                 std::to_string(header::layout));
  const rank_t n = head->participants;
  if (n == 0 || n > shared_barrier::most_participants || head->bytes != segment::bytes_for(n) ||
      bytes < head->bytes)
    fail(reason::other_kind, what + " was made by a tutti that was compiled differently");
}

void check_count(const segment& s, rank_t participants, const std::string& what) {
  if (s.participants() != participants)
    fail(reason::other_count, what + " is for " + std::to_string(s.participants()) +
                                  " participants, not " + std::to_string(participants));
}

std::optional<shared_barrier_error> complaint(const segment& s, const std::string& what) {
  const bool is_broken = s.report_the_dead();
  if (!is_broken && s.word().expected() > 0) return {};
  bool is_used = false;
  for (rank_t r = 0; r < s.participants(); ++r)
    is_used = is_used || (s.is_held(r) && !s.has_left(r));
  if (!is_broken)
    return shared_barrier_error(reason::stale,
                                "tutti: " + what + " is stale: all participants have left");
  const auto died = s.word().died();
  const std::string who = participant_text(died.rank, died.process);
  if (!is_used)
    return shared_barrier_error(reason::stale,
                                "tutti: " + what + " is stale: " + who +
                                    " has died, and no participant is left; unlink it or replace "
                                    "it by create_or_attach");
  return shared_barrier_error(reason::died, "tutti: " + what + " is broken: " + who + " has died");
}

}  // namespace tutti::detail::shared
