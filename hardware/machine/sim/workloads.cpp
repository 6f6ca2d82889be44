// SPDX-License-Identifier: Apache-2.0
#include "hardware/machine/sim/workloads.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <variant>

#include "hardware/machine/software/gain_steps.hpp"
#include "hardware/machine/software/region_work.hpp"
#include "vcode/language/instructions.hpp"
#include "vcode/vcode.hpp"
#include "workloads/synthetic/vectors.hpp"

namespace tutti::machine {

namespace {

std::string name_of_run(const char* workload, const workload_run& on) {
  return std::string(workload) + ", " + name_of_contender(on.contender) + ", " +
         std::to_string(on.cores) + " cores in " + std::to_string(on.sockets) +
         (on.sockets == 1 ? " socket" : " sockets");
}

settings settings_of(const workload_run& on, std::uint32_t episodes) {
  settings s;
  s.cores = on.cores;
  s.sockets = on.sockets;
  s.unit_distance = on.unit_distance;
  s.ideal = on.ideal;
  s.parameters[PARAM_EPISODES] = episodes;
  s.parameters[PARAM_ALGORITHM] = on.contender;
  s.parameters[PARAM_TIMEOUT] = 1u << 20;
  return s;
}

constexpr std::uint64_t most_cycles = 200'000'000;

// The first value of each core.
std::uint32_t slowest(const ended_run& done, unsigned cores) {
  std::uint32_t most = 0;
  for (unsigned core = 0; core < cores; ++core)
    most = std::max(most, done.data_of(core, TRACE_VALUE).at(0));
  return most;
}

figures each_of(std::uint32_t cycles, std::uint32_t count) {
  const double each = cycles / static_cast<double>(count);
  return {each, each, each, count};
}

void require_same(const std::string& name, std::uint32_t found, std::uint32_t wanted) {
  if (found != wanted)
    throw std::runtime_error(name + ": another result than the host's: " + std::to_string(found) +
                             " instead of " + std::to_string(wanted));
}

// What core 0 tells.
std::vector<std::uint32_t> told(const std::string& name, const ended_run& done, std::size_t count) {
  std::vector<std::uint32_t> values = done.data_of(0, TRACE_VALUE);
  if (values.size() != count) throw std::runtime_error(name + ": core 0 tells no result");
  return values;
}

}  // namespace

// ---- StreamCluster ----

figures measure_streamcluster(const images& folder, const workload_run& on, std::uint32_t steps) {
  const std::string name = name_of_run("streamcluster", on);
  const ended_run done =
      run_well(folder + "/streamcluster.bin", settings_of(on, steps), most_cycles, name);

  const auto here = std::make_unique<rtl::gain_steps>();
  here->begin();
  for (std::uint32_t i = 0; i < steps; ++i)
    here->try_to_open(0, 1, rtl::gain_steps::candidate(i), [] {});
  const std::vector<std::uint32_t> values = told(name, done, 4);
  require_same(name, values[1] << 16 | values[2], here->fingerprint());
  require_same(name, values[3], here->gains());
  return each_of(slowest(done, on.cores), steps);
}

// ---- regions ----

namespace {

// The workload's own function on the same numbers.
std::uint32_t sum_of_floors(std::uint32_t length) {
  std::vector<double> v1(length), v2(length), v3(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    v1[i] = static_cast<double>(rtl::region_number(0, i)) / rtl::one;
    v2[i] = static_cast<double>(rtl::region_number(1, i)) / rtl::one;
  }
  return static_cast<std::uint32_t>(synthetic::multiply_and_sum_floors({v1, v2, v3}));
}

}  // namespace

figures measure_regions(const images& folder, const workload_run& on, std::uint32_t length,
                        std::uint32_t regions) {
  const std::string name = name_of_run("regions", on);
  settings s = settings_of(on, regions);
  s.parameters[PARAM_A] = length;
  const ended_run done = run_well(folder + "/regions.bin", s, most_cycles, name);
  const std::vector<std::uint32_t> values = told(name, done, 3);
  require_same(name, values[1] << 16 | values[2], sum_of_floors(length));
  return each_of(values[0], regions);
}

// ---- the vector machine ----

namespace {

template <std::uint32_t Size>
std::string written(const rtl::vector_code<Size>& code) {
  std::string text = "FUNC F0\n";
  std::uint32_t functions = 1;
  for (std::uint32_t i = 0; i < Size; ++i) {
    const rtl::vector_instruction& now = code.all[i];
    text += vcode::info(now.code).name;
    if (now.type == 'i') text += " INT";
    switch (now.code) {
      using enum vcode::opcode;
      case copy:
      case pop:
      case cpop: text += ' ' + std::to_string(now.first) + ' ' + std::to_string(now.second); break;
      case constant: text += ' ' + std::to_string(now.first); break;
      case call: text += " F" + std::to_string(now.first); break;
      default: break;
    }
    text += '\n';
    if (now.code == vcode::opcode::ret && i + 1 < Size)
      text += "FUNC F" + std::to_string(functions++) + '\n';
  }
  return text;
}

}  // namespace

std::string text_of(rtl::vector_program program) {
  switch (program) {
    case rtl::vector_program::nothing: return written(rtl::code_of_nothing);
    case rtl::vector_program::invert: return written(rtl::code_of_invert);
    case rtl::vector_program::sort: return written(rtl::code_of_sort);
  }
  return {};
}

std::vector<std::int32_t> run_by_library(rtl::vector_program program, std::uint32_t elements) {
  std::vector<std::int32_t> given(elements);
  for (std::uint32_t i = 0; i < elements; ++i) given[i] = rtl::vector_input(program, i);
  const vcode::program code = vcode::compile(text_of(program));
  // Code that reaches for nothing leaves what there is.
  if (code.inputs().empty()) return given;
  const vcode::run_result done = vcode::run(code, {given});
  return std::get<std::vector<std::int32_t>>(done.stack.at(0));
}

vector_figures measure_vectors(const images& folder, const workload_run& on,
                               rtl::vector_program program, std::uint32_t elements,
                               std::uint32_t runs) {
  const std::string name = name_of_run("vector program", on);
  settings s = settings_of(on, runs);
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  s.parameters[PARAM_A] = elements;
  const ended_run done = run_well(folder + "/vcode.bin", s, most_cycles, name);
  const std::vector<std::uint32_t> values = told(name, done, 5);
  std::uint32_t hash = rtl::vector_hash_begin;
  for (const std::int32_t element : run_by_library(program, elements))
    hash = rtl::vector_hash(hash, element);
  require_same(name, values[3] << 16 | values[4], hash);
  return {each_of(slowest(done, on.cores), runs), values[1], values[2]};
}

std::vector<std::uint32_t> run_failure(const images& folder, const workload_run& on,
                                       rtl::vector_failure how, std::uint32_t elements) {
  settings s = settings_of(on, 1);
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(how);
  s.parameters[PARAM_A] = elements;
  return run_well(folder + "/vcode_failures.bin", s, most_cycles, "failing vector program")
      .data(TRACE_VALUE);
}

}  // namespace tutti::machine
