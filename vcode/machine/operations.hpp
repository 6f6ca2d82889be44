// SPDX-License-Identifier: Apache-2.0
// The operations, one for each family of instructions.
#pragma once

#include "vcode/machine/context.hpp"

namespace tutti::vcode {

void run_elementwise(context& c, const step& s, value* v);
void run_random(context& c, const step& s, value* v);
void run_seed(context& c, const step& s, value* v);
void run_scan(context& c, const step& s, value* v);
void run_reduce(context& c, const step& s, value* v);
void run_rank(context& c, const step& s, value* v);
// PERMUTE, DPERMUTE, FPERMUTE, DFPERMUTE.
void run_permute(context& c, const step& s, value* v);
// BPERMUTE, BFPERMUTE.
void run_bpermute(context& c, const step& s, value* v);
void run_extract(context& c, const step& s, value* v);
void run_replace(context& c, const step& s, value* v);
void run_dist(context& c, const step& s, value* v);
void run_index(context& c, const step& s, value* v);
void run_pack(context& c, const step& s, value* v);
void run_length(context& c, const step& s, value* v);
void run_make_segdes(context& c, const step& s, value* v);
void run_lengths(context& c, const step& s, value* v);
// START_TIMER, STOP_TIMER.
void run_timer(context& c, const step& s, value* v);
// READ to SPAWN.
void run_stream(context& c, const step& s, value* v);

// Makes a descriptor from `lengths`, whose reference it takes over. Fails if a length is negative
// or their sum is too large.
value make_segdes(context& c, value lengths);

// Fails unless the vector has as many elements as the segments together. Messages contain `name`.
inline void require_elements(const value& v, const segment_view& s, const char* name) {
  require_same_length(name, v.length(), "the segments together", s.total);
}
// Fails unless the vector has as many elements as there are segments.
inline void require_segments(const value& v, const segment_view& s, const char* name) {
  if (v.length() != s.count) fail_lengths(name, v.length(), "the segment descriptor", s.count);
}

}  // namespace tutti::vcode
