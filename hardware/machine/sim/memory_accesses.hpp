// SPDX-License-Identifier: Apache-2.0
// The accesses of all cores to a tutti_machine_coherent, without cores: one at a time for each, as
// the processor makes them; and the text that says who waits for what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/flow/testbench.hpp"

namespace tutti::rtl {

enum class op : unsigned {
  load,
  store,
  load_reserved,
  store_conditional,
  swap,
  add,
  exclusive_or,
  bit_and,
  bit_or,
  min,
  max,
  minu,
  maxu
};

inline constexpr std::uint32_t memory_base = 0x8000'0000;

struct data_access {
  op what = op::load;
  std::uint32_t address = memory_base;
  std::uint32_t data = 0;
  unsigned strobe = 0xf;
};

struct answer {
  std::uint32_t data = 0;
  bool fault = false;
  std::uint64_t started = 0, ended = 0;  // the first and the last cycle of the access
  std::uint64_t cycles() const { return ended - started + 1; }
};

class access_ports {
 public:
  explicit access_ports(testbench& bench)
      : bench_(bench), now_(CORES), busy_(CORES, false), started_(CORES) {
    for (unsigned c = 0; c < CORES; ++c) set_field(bench_.top().data_valid_i, c, 1, 0);
  }

  bool busy(unsigned core) const { return busy_[core]; }
  std::uint64_t started(unsigned core) const { return started_[core]; }
  const data_access& current(unsigned core) const { return now_[core]; }

  // A core that is not busy begins an access with the next step.
  void begin(unsigned core, const data_access& a) {
    model& top = bench_.top();
    now_[core] = a;
    busy_[core] = true;
    started_[core] = bench_.cycle();
    const unsigned at = core * request_bits;
    set_field(top.data_request_i, at, 4, a.strobe);
    set_field(top.data_request_i, at + 4, 32, a.data);
    set_field(top.data_request_i, at + 36, 32, a.address);
    set_field(top.data_request_i, at + 68, 4, static_cast<unsigned>(a.what));
    set_field(top.data_valid_i, core, 1, 1);
  }

  // One cycle; ended(core, access, answer) is called for each access that ends in it.
  template <class Ended>
  void step(Ended ended) {
    model& top = bench_.top();
    bench_.settle();
    const std::uint64_t ready = field(top.data_ready_o, 0, CORES);
    for (unsigned c = 0; ready >> c != 0; ++c) {
      if ((ready >> c & 1) == 0) continue;
      const answer a{static_cast<std::uint32_t>(field(top.data_rdata_o, 32 * c, 32)),
                     field(top.data_fault_o, c, 1) != 0, started_[c], bench_.cycle()};
      busy_[c] = false;
      ended(c, now_[c], a);
    }
    bench_.tick();
    for (unsigned c = 0; ready >> c != 0; ++c)
      if ((ready >> c & 1) != 0) set_field(top.data_valid_i, c, 1, 0);
  }

  // Makes one access while the others rest; empty if it does not end.
  std::optional<answer> alone(unsigned core, const data_access& a, unsigned most = 100'000) {
    std::optional<answer> result;
    begin(core, a);
    for (unsigned i = 0; i < most && !result; ++i)
      step([&](unsigned, const data_access&, const answer& got) { result = got; });
    return result;
  }

  // Forgets the accesses, after a reset.
  void forget() {
    for (unsigned c = 0; c < CORES; ++c) {
      busy_[c] = false;
      set_field(bench_.top().data_valid_i, c, 1, 0);
    }
  }

  // Says who waits for what, a line for each cache and transaction.
  std::string waits() {
    static const char* const steps[] = {"free", "lookup", "send", "answer", "wait for Done"};
    static const char* const kinds[] = {"GetS", "GetM", "Upgrade", "Put"};
    bench_.settle();
    const model& top = bench_.top();
    std::string text;
    for (unsigned c = 0; c < CORES; ++c) {
      const auto bits = [&](unsigned low, unsigned width) {
        return field(top.cache_status_o, 64 * c + low, width);
      };
      if (!busy_[c] && bits(28, 1) == 0) continue;
      text += "cache " + std::to_string(c) + ":";
      if (busy_[c])
        text += " the core's access " + std::to_string(static_cast<unsigned>(now_[c].what)) +
                " since cycle " + std::to_string(started_[c]);
      if (bits(63, 1) != 0) {
        text += ", line " + std::to_string(bits(29, 26)) + " waits for ";
        text += bits(62, 1) == 0 ? "Data" : std::to_string(bits(55, 7)) + " Acks";
      }
      if (bits(28, 1) != 0)
        text += ", line " + std::to_string(bits(2, 26)) + " waits for its Put's answer";
      if (bits(1, 1) != 0) text += ", holds a reserved line";
      if (bits(0, 1) != 0) text += ", a message waits for the network";
      text += '\n';
    }
    for (unsigned p = 0; p < BANKS * TRANSACTIONS; ++p) {
      const auto bits = [&](unsigned low, unsigned width) {
        return field(top.transaction_status_o, 39 * p + low, width);
      };
      if (bits(36, 3) == 0) continue;
      text += "home " + std::to_string(p / TRANSACTIONS) + ": " + kinds[bits(32, 4) % 4] + " of " +
              std::to_string(bits(26, 6)) + " for line " + std::to_string(bits(0, 26)) + ": " +
              steps[bits(36, 3) % 5] + '\n';
    }
    return text;
  }

 private:
  static constexpr unsigned request_bits = 72;
  testbench& bench_;
  std::vector<data_access> now_;
  std::vector<bool> busy_;
  std::vector<std::uint64_t> started_;
};

}  // namespace tutti::rtl
