// SPDX-License-Identifier: Apache-2.0
// The common parts of all harnesses around Verilator models: clock, waveforms, coverage, random
// numbers, arguments.
#pragma once

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/flow/fields.hpp"
#include "model.h"
#ifdef COVERAGE
#include <verilated_cov.h>
#endif
#ifdef WAVES
#include <verilated_vcd_c.h>
#endif

namespace tutti::rtl {

struct arguments {
  std::uint64_t cycles = 100'000;
  std::uint64_t seed = 1;
  std::string waves, coverage;

  // Throws std::invalid_argument for arguments that are not valid.
  static arguments parse(int argc, char** argv) {
    arguments a;
    for (int i = 1; i < argc; ++i) {
      const std::string key = argv[i];
      if (i + 1 == argc) throw std::invalid_argument("argument '" + key + "' lacks its value");
      const std::string value = argv[++i];
      if (key == "--cycles")
        a.cycles = std::stoull(value);
      else if (key == "--seed")
        a.seed = std::stoull(value);
      else if (key == "--waves")
        a.waves = value;
      else if (key == "--coverage")
        a.coverage = value;
      else
        throw std::invalid_argument("unknown argument '" + key + "'");
    }
    return a;
  }
};

// A model with ports clk_i and rst_ni. Set inputs between ticks; tick() is one rising edge.
class testbench {
 public:
  explicit testbench(const arguments& with = {}) : with_(with) {
#ifdef WAVES
    context_.traceEverOn(true);
    if (!with.waves.empty()) {
      top_.trace(&waves_, 99);
      waves_.open(with.waves.c_str());
    }
#endif
  }
  ~testbench() {
    top_.final();
#ifdef WAVES
    if (waves_.isOpen()) waves_.close();
#endif
#ifdef COVERAGE
    if (!with_.coverage.empty()) context_.coveragep()->write(with_.coverage.c_str());
#endif
  }
  testbench(const testbench&) = delete;
  testbench& operator=(const testbench&) = delete;

  model& top() { return top_; }
  std::uint64_t cycle() const { return cycle_; }

  // Updates the combinational outputs within the cycle.
  void settle() { top_.eval(); }

  void tick() {
    top_.clk_i = 0;
    top_.eval();
    dump();
    top_.clk_i = 1;
    top_.eval();
    dump();
    ++cycle_;
  }

  void reset(unsigned cycles = 2) {
    top_.rst_ni = 0;
    for (unsigned i = 0; i < cycles; ++i) tick();
    top_.rst_ni = 1;
  }

 private:
  void dump() {
#ifdef WAVES
    if (waves_.isOpen()) waves_.dump(time_);
#endif
    ++time_;
  }

  // Gives registers random initial values, where Verilator's default would be 0, so that missing
  // resets show.
  static VerilatedContext* power_on(VerilatedContext& context, std::uint64_t seed) {
    context.threads(1);
    context.randReset(2);
    context.randSeed(static_cast<int>(seed % 0x7FFF'FFFF) + 1);
    return &context;
  }

  arguments with_;
  VerilatedContext context_;
#ifdef WAVES
  VerilatedVcdC waves_;
#endif
  model top_{power_on(context_, with_.seed), "top"};
  std::uint64_t cycle_ = 0, time_ = 0;
};

// Writes a register through the unit's port for requests, in the cycle that step() makes.
template <class Model, class Step>
void write_register(Model& top, std::uint64_t address, std::uint64_t value, Step step) {
  top.req_valid_i = 1;
  top.req_write_i = 1;
  top.req_addr_i = static_cast<std::uint16_t>(address);
  top.req_data_i = value;
  step();
  top.req_valid_i = 0;
  top.req_write_i = 0;
}

// Implements main(): calls body(arguments), which returns what went wrong, or an empty string.
template <class Body>
int run_harness(int argc, char** argv, Body body) {
  arguments with;
  try {
    with = arguments::parse(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  const std::string wrong = body(with);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  return 1;
}

// The same for a unit that has been reset: calls body(testbench, arguments).
template <class Body>
int run_after_reset(int argc, char** argv, Body body) {
  return run_harness(argc, argv, [&](const arguments& with) -> std::string {
    testbench bench(with);
    bench.reset();
    return body(bench, with);
  });
}

}  // namespace tutti::rtl
