// SPDX-License-Identifier: Apache-2.0
// Chooses the operations and kernels of all instructions.
#include "vcode/machine/prepare.hpp"

#include <vector>

#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

bool is_scan(opcode code) { return code >= opcode::add_scan && code <= opcode::xor_scan; }
bool is_reduce(opcode code) { return code >= opcode::add_reduce && code <= opcode::xor_reduce; }

// Returns null for instructions that the interpreter executes itself.
operation find_operation(opcode code) {
  if (code == opcode::random) return run_random;
  if (code <= opcode::boolean_to_integer) return run_elementwise;
  if (is_scan(code)) return run_scan;
  if (is_reduce(code)) return run_reduce;
  if (code >= opcode::read) return run_stream;
  switch (code) {
    case opcode::rank_up:
    case opcode::rank_down: return run_rank;
    case opcode::permute:
    case opcode::dpermute:
    case opcode::fpermute:
    case opcode::dfpermute: return run_permute;
    case opcode::bpermute:
    case opcode::bfpermute: return run_bpermute;
    case opcode::extract: return run_extract;
    case opcode::replace: return run_replace;
    case opcode::dist: return run_dist;
    case opcode::index: return run_index;
    case opcode::pack: return run_pack;
    case opcode::length: return run_length;
    case opcode::make_segdes: return run_make_segdes;
    case opcode::lengths: return run_lengths;
    case opcode::start_timer:
    case opcode::stop_timer: return run_timer;
    case opcode::seed: return run_seed;
    default: return nullptr;
  }
}

bool moves_nothing(const instruction& i) {
  const bool moves = i.code == opcode::copy || i.code == opcode::pop || i.code == opcode::cpop;
  return moves && i.first == 0;
}

// Tells for each instruction whether it is RET or only ends of branches stand between it and RET.
// Branches lead forward, so one pass from the end finds that.
std::vector<bool> find_returns(const program_data& data) {
  std::vector<bool> made(data.code.size());
  for (std::size_t at = data.code.size(); at-- > 0;) {
    const instruction& i = data.code[at];
    if (i.code == opcode::ret) made[at] = true;
    if (i.code == opcode::end_if) made[at] = made[at + 1];
    if (i.code == opcode::branch_else) made[at] = made[static_cast<std::size_t>(i.first)];
  }
  return made;
}

}  // namespace

prepared_program prepare(const program_data& data) {
  prepared_program made;
  made.data = &data;
  made.steps.reserve(data.code.size());
  const std::vector<bool> returns = find_returns(data);
  for (std::size_t at = 0; at < data.code.size(); ++at) {
    const instruction& i = data.code[at];
    const instruction_info& about = info(i.code);
    step s;
    s.run = find_operation(i.code);
    s.code = i.code;
    s.type = i.type;
    s.operands = static_cast<std::uint8_t>(about.operands.size());
    s.change = static_cast<std::int8_t>(static_cast<int>(about.results.size()) -
                                        static_cast<int>(about.operands.size()));
    if (!about.results.empty()) s.result = kind_of(about.results[0], i.type);
    s.first = i.first;
    // A move of no values needs no depth, and the verifier has not checked that the stack is that
    // deep.
    s.second = moves_nothing(i) ? 0 : i.second;
    s.line = i.where.line;
    const elementwise found = find_elementwise(i.code, i.type);
    s.vector = found.vector;
    s.scalar = found.scalar;
    s.by_constant = found.by_constant;
    if (is_scan(i.code) || is_reduce(i.code)) {
      made.folds.push_back(std::make_unique<fold_kernels>(find_fold(i.code, i.type)));
      s.fold = made.folds.back().get();
    }
    if (i.code == opcode::call) {
      // A call right before RET needs no return address; `second` marks it.
      s.first = static_cast<std::int32_t>(data.functions[static_cast<std::size_t>(i.first)].begin);
      s.second = returns[at + 1] ? 1 : 0;
      s.operands = 0;
    }
    made.steps.push_back(s);
  }
  return made;
}

}  // namespace tutti::vcode
