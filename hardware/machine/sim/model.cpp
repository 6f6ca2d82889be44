// SPDX-License-Identifier: Apache-2.0
// Compiled once for each size: TUTTI_MODEL is Verilator's class, TUTTI_MODEL_CORES,
// TUTTI_MODEL_SOCKETS and TUTTI_MODEL_IDEAL are what it was made with.
#include "model.hpp"

// Verilator's headers, by names that depend on the size.
#define TUTTI_TEXT_(x) #x
#define TUTTI_TEXT(x) TUTTI_TEXT_(x)
#define TUTTI_JOIN_(a, b) a##b
#define TUTTI_JOIN(a, b) TUTTI_JOIN_(a, b)
#include TUTTI_TEXT(TUTTI_MODEL.h)
#include TUTTI_TEXT(TUTTI_JOIN(TUTTI_MODEL, ___024root.h))

#include "verilated.h"

namespace tutti::machine {

namespace {

class verilated_model final : public model {
 public:
  void reset(bool held) override { top_.rst_ni = !held; }
  void cores_of_a_socket(unsigned each) override { top_.each_i = static_cast<CData>(each); }
  void unit_distance(unsigned cycles) override {
    top_.unit_distance_i = static_cast<CData>(cycles);
  }
  void external_interrupts(std::uint64_t cores) override { top_.external_irq_i = cores; }
  void settle() override {
    top_.clk_i = 0;
    top_.eval();
  }
  void rise() override {
    top_.clk_i = 1;
    top_.eval();
  }

  std::uint64_t reports() const override { return top_.report_valid_o; }
  unsigned report_kind(unsigned core) const override { return top_.report_kind_o[core]; }
  std::uint32_t report_data(unsigned core) const override { return top_.report_data_o[core]; }
  std::uint64_t retired() const override { return top_.retired_o; }
  machine::activity activity(unsigned core) const override {
    return static_cast<machine::activity>(top_.activity_o[core]);
  }
  std::uint32_t pc(unsigned core) const override { return top_.pc_o[core]; }
  unsigned access_op(unsigned core) const override { return top_.access_op_o[core]; }
  std::uint32_t access_address(unsigned core) const override { return top_.access_addr_o[core]; }
  std::span<std::uint32_t> image() override {
    auto& words = top_.rootp->tutti_machine_system__DOT__image;
    return {&words[0], sizeof words / sizeof words[0]};
  }

  ~verilated_model() override { top_.final(); }

 private:
  VerilatedContext context_;
  TUTTI_MODEL top_{&context_};
};

const bool added = add_model({TUTTI_MODEL_CORES, TUTTI_MODEL_SOCKETS, TUTTI_MODEL_IDEAL,
                              [] { return std::unique_ptr<model>(new verilated_model); }});

}  // namespace

}  // namespace tutti::machine
