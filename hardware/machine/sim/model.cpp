// SPDX-License-Identifier: Apache-2.0
// Compiled once for each size: TUTTI_MODEL is Verilator's class, TUTTI_MODEL_CORES,
// TUTTI_MODEL_SOCKETS, TUTTI_MODEL_THREADS, TUTTI_MODEL_IDEAL and TUTTI_MODEL_MESSAGES are what it
// was made with. TUTTI_MODEL_CORES counts the threads of all cores.
#include "hardware/machine/sim/model.hpp"

// Verilator's headers, by names that depend on the size.
#define TUTTI_TEXT_(x) #x
#define TUTTI_TEXT(x) TUTTI_TEXT_(x)
#define TUTTI_JOIN_(a, b) a##b
#define TUTTI_JOIN(a, b) TUTTI_JOIN_(a, b)
#include TUTTI_TEXT(TUTTI_MODEL.h)
#include TUTTI_TEXT(TUTTI_JOIN(TUTTI_MODEL, ___024root.h))

#include "hardware/flow/fields.hpp"
#include "verilated.h"

// Calls f with the registers of the barrier unit of a socket.
#define TUTTI_GENERATED(socket, name) \
  tutti_machine_system__DOT__gen_socket__BRA__##socket##__KET____DOT__##name
#define TUTTI_UNIT(socket, name) \
  top_.rootp->TUTTI_GENERATED(socket, gen_unit__DOT__u_unit__DOT__##name)
#define TUTTI_OF_SOCKET(socket)                                                                    \
  f(TUTTI_UNIT(socket, participants_q), TUTTI_UNIT(socket, arrived_q), TUTTI_UNIT(socket, owed_q), \
    TUTTI_UNIT(socket, waiting_q), TUTTI_UNIT(socket, at_q))

namespace tutti::machine {

namespace {

class verilated_model final : public model {
 public:
  void reset(bool held) override { top_.rst_ni = !held; }
  void cores_of_a_socket(unsigned each) override {
    top_.each_i = static_cast<CData>(each / threads);
  }
  void unit_distance(unsigned cycles, unsigned link) override {
    top_.unit_distance_i = static_cast<CData>(cycles);
    top_.unit_link_i = static_cast<SData>(link);
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
  unsigned access_op(unsigned core) const override { return top_.access_op_o[core / threads]; }
  std::uint32_t access_address(unsigned core) const override {
    return top_.access_addr_o[core / threads];
  }
  machine::miss miss(unsigned core) const override {
    const unsigned m = top_.miss_o[core / threads];
    // The count of acknowledgements may be negative: seven bits, signed.
    const int acks = static_cast<int>(m & 0x7f);
    return {(m >> 8 & 1) != 0, (m >> 7 & 1) != 0, acks >= 64 ? acks - 128 : acks,
            top_.miss_line_o[core / threads]};
  }
  unsigned transactions() const override {
    return sizeof top_.transaction_o / sizeof top_.transaction_o[0];
  }
  machine::transaction transaction(unsigned number) const override {
    const std::uint64_t t = top_.transaction_o[number];
    return {static_cast<unsigned>(t >> 36 & 7), static_cast<unsigned>(t >> 32 & 15),
            static_cast<unsigned>(t >> 26 & 63) * threads,
            static_cast<std::uint32_t>(t & 0x3ffffff)};
  }
  int waits_at(unsigned core) const override {
    int found = -1;
    of_unit(core / each,
            [&](const auto&, const auto&, const auto&, const auto& waiting, const auto& at) {
              if (rtl::field(waiting, core % each, 1) != 0)
                found = static_cast<int>(rtl::field(at, core % each * index_bits, index_bits));
            });
    return found;
  }
  unsigned waits_at_structure(unsigned core) const override { return top_.waits_o[core]; }
  mailbox_state mailbox(unsigned core) const override {
    const unsigned m = top_.mailbox_o[core];
    return {(m >> 2 & 1) != 0, (m >> 3 & 1) != 0, (m >> 1 & 1) != 0, (m & 1) != 0};
  }
  wave_state wave() const override {
    const unsigned w = top_.wave_o;
    return {w >> 3 & 3, (w >> 2 & 1) != 0, (w >> 1 & 1) != 0, (w & 1) != 0};
  }
  bool detector_is_wrong() const override { return top_.detector_error_o != 0; }
  barrier_state barrier(unsigned socket, unsigned number) const override {
    barrier_state b;
    of_unit(socket, [&](const auto& participants, const auto& arrived, const auto& owed,
                        const auto&, const auto&) {
      const auto of = [&](const auto& port) {
        return static_cast<std::uint32_t>(rtl::field(port, number * each, each));
      };
      b = {of(participants), of(arrived), of(owed)};
    });
    return b;
  }
  std::span<std::uint32_t> image() override {
    auto& words = top_.rootp->tutti_machine_system__DOT__image;
    return {&words[0], sizeof words / sizeof words[0]};
  }

  ~verilated_model() override { top_.final(); }

 private:
  static constexpr unsigned threads = TUTTI_MODEL_THREADS;
  static constexpr unsigned each = TUTTI_MODEL_CORES / TUTTI_MODEL_SOCKETS;
  // There are 8 barriers, as tutti_machine_config_pkg says.
  static constexpr unsigned index_bits = 3;

  // Sockets of more than 32 cores have no unit.
  template <class F>
  void of_unit(unsigned socket, F f) const {
    (void)socket;
    (void)f;
#if TUTTI_MODEL_CORES / TUTTI_MODEL_SOCKETS <= 32
    if (socket == 0) TUTTI_OF_SOCKET(0);
#if TUTTI_MODEL_SOCKETS > 1
    if (socket == 1) TUTTI_OF_SOCKET(1);
#endif
#if TUTTI_MODEL_SOCKETS > 2
    if (socket == 2) TUTTI_OF_SOCKET(2);
#endif
#if TUTTI_MODEL_SOCKETS > 3
    if (socket == 3) TUTTI_OF_SOCKET(3);
#endif
#endif
  }

  VerilatedContext context_;
  TUTTI_MODEL top_{&context_};
};

const bool added = add_model({TUTTI_MODEL_CORES, TUTTI_MODEL_SOCKETS, TUTTI_MODEL_THREADS,
                              TUTTI_MODEL_IDEAL != 0, TUTTI_MODEL_MESSAGES != 0,
                              [] { return std::unique_ptr<model>(new verilated_model); }});

}  // namespace

}  // namespace tutti::machine
