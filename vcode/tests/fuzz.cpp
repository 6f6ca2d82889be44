// SPDX-License-Identifier: Apache-2.0
// Any text is either refused with a source_error or verified. A verified program runs without
// memory errors, and two engines leave the same stack. libFuzzer and corpus_test.cpp use this file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "vcode/language/call_graph.hpp"
#include "vcode/vcode.hpp"

namespace {

using namespace tutti::vcode;

constexpr std::uint64_t most_steps = 20'000;

// Without streams a program cannot change anything outside the process.
bool is_harmless(const program_data& data) {
  for (const auto& each : data.code) {
    if (each.code >= opcode::read) return false;
  }
  return true;
}

// Without recursion a program ends; the number of calls bounds how soon.
bool is_short(const program_data& data) {
  std::vector<std::uint64_t> steps(data.functions.size());
  for (const auto& group : call_groups(data)) {
    if (group.recursive) return false;
    const std::uint32_t index = group.functions.front();
    const function& each = data.functions[index];
    for (std::uint32_t at = each.begin; at < each.end; ++at) {
      ++steps[index];
      if (data.code[at].code == opcode::call) {
        steps[index] += steps[static_cast<std::size_t>(data.code[at].first)];
      }
      if (steps[index] > most_steps) return false;
    }
  }
  return true;
}

// Returns what the program leaves, or nothing if it fails.
std::optional<std::string> result_of(const program& code, const run_options& how) {
  try {
    const run_result result = run(code, {}, how);
    std::string text = result.exited ? "exited" : "";
    for (const auto& each : result.stack) text += to_text(each);
    return text;
  } catch (const run_error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const program code = compile(text, "fuzz");
    require_no_inputs(code);
    if (!is_harmless(code.data()) || !is_short(code.data())) return 0;
    run_options how;
    how.memory = 1 << 22;
    how.zero_timers = true;
    // Defers even what is otherwise deferred only in long vectors.
    how.defer_from = 1;
    how.check = size % 2 == 1;
    how.strict = size % 4 >= 2;
    const auto lazy = result_of(code, how);
    how.engine = engine::workers;
    const auto workers = result_of(code, how);
    // One engine may fail alone: vectors that are never used take memory only from the engine that
    // computes them.
    if (lazy && workers && *lazy != *workers) {
      std::fprintf(stderr, "lazy leaves:\n%sworkers leave:\n%s", lazy->c_str(), workers->c_str());
      std::abort();
    }
  } catch (const source_error&) {
  }
  return 0;
}
