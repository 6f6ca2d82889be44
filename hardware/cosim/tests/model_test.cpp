// SPDX-License-Identifier: Apache-2.0
// The models of the units in C++ against the Verilated units: the same random inputs to both, and
// every output compared in every cycle.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "Vtutti_cosim_harp.h"
#include "Vtutti_cosim_hbs.h"
#include "Vtutti_cosim_hbs_peers.h"
#include "Vtutti_cosim_mask.h"
#include "hardware/flow/fields.hpp"
#include "hardware/model/counting_unit.hpp"
#include "hardware/model/hbs_unit.hpp"
#include "hardware/model/mask_unit.hpp"

namespace tutti::hardware::model {
namespace {

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t word() { return random_(); }

 private:
  std::mt19937_64 random_;
};

template <class Top>
class verilated {
 public:
  verilated() : top_(std::make_unique<Top>(&context_, "top")) {
    top_->rst_ni = 0;
    for (int i = 0; i < 2; ++i) edge();
    top_->rst_ni = 1;
  }
  ~verilated() { top_->final(); }
  Top& ports() { return *top_; }
  void settle() {
    top_->clk_i = 0;
    top_->eval();
  }
  void edge() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }
  template <class Outputs>
  void ask(const register_request& r, Outputs& offset) {
    top_->req_valid_i = r.valid;
    top_->req_write_i = r.is_write;
    offset = static_cast<Outputs>(r.offset);
    top_->req_data_i = r.value;
  }

 private:
  VerilatedContext context_;
  std::unique_ptr<Top> top_;
};

// ---- counting and mask units

constexpr std::uint64_t configuration_offsets[] = {control,      size,           arrival, departure,
                                                   arrival_base, departure_base, error};
constexpr std::uint64_t shown_offsets[] = {id,    version,   capability, control,  size,    arrival,
                                           error, departure, status,     arrived0, arrived1};

// What software may do at the registers, sensible or not.
class software {
 public:
  software(dice& d, unsigned threads) : dice_(d), threads_(threads) {}

  register_request next() {
    if (!setup_.empty()) {
      const register_request first = setup_.back();
      setup_.pop_back();
      return first;
    }
    if (dice_.one_in(3)) return {false, dice_.one_in(2), dice_.word() % 65536, dice_.word()};
    if (dice_.one_in(400)) configure();
    const unsigned thread = dice_.one_in(50) ? static_cast<unsigned>(dice_.below(128)) : next_;
    if (dice_.one_in(5)) return {true, false, any_of(shown_offsets), 0};
    if (dice_.one_in(4)) return {true, false, sense(dice_.below(2), thread), 0};
    if (dice_.one_in(200)) return {true, true, any_of(configuration_offsets), few_bits()};
    if (dice_.one_in(500)) return {true, true, dice_.word() % 65536, few_bits()};
    const register_request arrives{true, true, trigger(episode_ % 2, thread), dice_.word()};
    if (thread == next_ && ++next_ >= size_) {
      next_ = 0;
      ++episode_;
    }
    return arrives;
  }

 private:
  template <std::size_t N>
  std::uint64_t any_of(const std::uint64_t (&offsets)[N]) {
    return offsets[dice_.below(N)];
  }
  std::uint64_t few_bits() { return dice_.word() >> (dice_.one_in(2) ? 62 : dice_.below(64)); }
  void configure() {
    size_ = 1 + static_cast<unsigned>(dice_.below(dice_.one_in(2) ? 4 : threads_));
    next_ = episode_ = 0;
    // From the last to the first.
    setup_ = {{true, true, control, control_enable},      {true, true, arrival, dice_.below(3)},
              {true, true, departure, dice_.below(3)},    {true, true, size, size_},
              {true, true, departure_base, dice_.word()}, {true, true, arrival_base, dice_.word()}};
  }

  dice& dice_;
  unsigned threads_, size_ = 1, next_ = 0, episode_ = 0;
  std::vector<register_request> setup_;
};

struct what_happened {
  std::optional<std::uint64_t> differs_in;
  std::uint64_t reads = 0, writes = 0, departures = 0, idle = 0, errors = 0;
};

constexpr std::uint64_t never = ~std::uint64_t{0};

// The model does not get what software writes in the cycle `lost`.
what_happened run_counting(std::uint64_t seed, std::uint64_t cycles, std::uint64_t lost = never) {
  constexpr unsigned threads = 64;
  dice d(seed);
  software program(d, threads);
  verilated<Vtutti_cosim_harp> unit;
  counting_unit copy(threads);
  // The numbers that the participants' lines hold, and the tags whose reads have no answer.
  std::vector<std::uint64_t> numbers(threads);
  std::vector<unsigned> asked;
  what_happened seen;
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    counting_inputs in;
    in.request = program.next();
    in.message = d.one_in(3);
    in.message_address = static_cast<unsigned>(d.below(8));
    in.takes_read = !d.one_in(3);
    in.takes_write = !d.one_in(3);
    if (!asked.empty() && d.one_in(2)) {
      std::swap(asked[d.below(asked.size())], asked.back());
      in.answers = true;
      in.answer_tag = asked.back();
      asked.pop_back();
      if (d.one_in(2)) numbers[in.answer_tag] += d.one_in(100) ? 2 : 1;
      in.answer = numbers[in.answer_tag];
      in.answer_fails = d.one_in(50);
    }
    if (d.one_in(10)) in = {};
    auto& p = unit.ports();
    unit.ask(in.request, p.req_addr_i);
    p.msg_valid_i = in.message;
    p.msg_addr_i = static_cast<std::uint8_t>(in.message_address);
    p.rd_ready_i = in.takes_read;
    p.wr_ready_i = in.takes_write;
    p.mem_valid_i = in.answers;
    p.mem_tag_i = static_cast<std::uint8_t>(in.answer_tag);
    p.mem_data_i = in.answer;
    p.mem_error_i = in.answer_fails;
    unit.settle();

    const bool is_idle = !in.request.valid && !in.message && !in.answers && !copy.is_busy();
    const counting_unit before = copy;
    if (cycle == lost) in.request = {};
    const counting_outputs out = copy.step(in);
    const bool is_same =
        p.rsp_data_o == out.value && bool{p.rd_valid_o != 0} == out.reads &&
        (!out.reads || (p.rd_addr_o == out.read_address && p.rd_tag_o == out.read_tag)) &&
        bool{p.wr_valid_o != 0} == out.writes &&
        (!out.writes || (p.wr_addr_o == out.write_address && p.wr_data_o == out.write_value));
    if (!is_same || (is_idle && !(copy == before))) {
      seen.differs_in = cycle;
      return seen;
    }
    if (out.reads && in.takes_read) asked.push_back(out.read_tag);
    const bool senses = in.request.valid && in.request.offset >= sense(0, 0);
    seen.departures += senses && (out.value & 1) != 0;
    seen.errors += in.request.valid && in.request.offset == error && out.value != 0;
    seen.reads += out.reads;
    seen.writes += out.writes;
    seen.idle += is_idle;
    unit.edge();
  }
  return seen;
}

TEST(Model, CountsAsTheUnit) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const what_happened seen = run_counting(seed, 60'000);
    EXPECT_FALSE(seen.differs_in) << "seed " << seed << ", cycle " << *seen.differs_in;
    EXPECT_GT(seen.reads, 300u);
    EXPECT_GT(seen.writes, 1000u);
    EXPECT_GT(seen.departures, 100u);
    EXPECT_GT(seen.errors, 10u);
    EXPECT_GT(seen.idle, 100u);
  }
  // A single lost request is noticed.
  std::uint64_t noticed = 0;
  for (std::uint64_t lost = 10'000; lost < 10'040; ++lost)
    noticed += run_counting(1, 60'000, lost).differs_in.has_value();
  EXPECT_GT(noticed, 10u);
}

what_happened run_mask(std::uint64_t seed, std::uint64_t cycles) {
  constexpr unsigned threads = 64;
  dice d(seed);
  software program(d, threads);
  verilated<Vtutti_cosim_mask> unit;
  mask_unit copy(threads);
  what_happened seen;
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const register_request r = program.next();
    unit.ask(r, unit.ports().req_addr_i);
    unit.ports().pin_arrive_i = 0;
    unit.settle();
    const std::uint64_t value = copy.step(r);
    if (unit.ports().rsp_data_o != value) {
      seen.differs_in = cycle;
      return seen;
    }
    seen.departures += r.valid && r.offset >= sense(0, 0) && (value & 1) != 0;
    seen.errors += r.valid && r.offset == error && value != 0;
    unit.edge();
  }
  return seen;
}

TEST(Model, MasksAsTheUnit) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const what_happened seen = run_mask(seed, 60'000);
    EXPECT_FALSE(seen.differs_in) << "seed " << seed << ", cycle " << *seen.differs_in;
    EXPECT_GT(seen.departures, 100u);
    EXPECT_GT(seen.errors, 10u);
  }
}

// ---- the structure

struct structure_seen {
  std::optional<std::uint64_t> differs_in;
  std::uint64_t completions = 0, announcements = 0, waits = 0, errors = 0;
};

template <class Top>
structure_seen run_structure(std::uint64_t seed, std::uint64_t cycles, unsigned local,
                             unsigned peers, std::uint64_t lost = never) {
  constexpr unsigned barriers = 4;
  const unsigned words = (local + peers + 63) / 64 + 1;
  dice d(seed);
  verilated<Top> unit;
  hbs_unit copy(barriers, local, peers);
  structure_seen seen;
  register_request waiting;
  std::vector<register_request> setup;
  // Few threads take part, so that episodes end.
  const unsigned most = 6;
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    hbs_inputs in;
    in.announced_barrier.assign(peers + 1, 0);
    if (!waiting.valid) {
      if (!setup.empty()) {
        waiting = setup.back();
        setup.pop_back();
      } else if (d.one_in(300) || cycle == 0) {
        const unsigned barrier = static_cast<unsigned>(d.below(barriers));
        const auto cluster_of = [&](unsigned w, std::uint64_t value) {
          return register_request{true, true, hbs::cluster(barrier, w, words), value};
        };
        // From the last to the first.
        setup = {cluster_of(words - 1, d.one_in(10))};
        for (unsigned w = 0; w + 1 < words; ++w) {
          std::uint64_t mask = 0;
          if (w == 0) mask = d.below(1u << most);
          if (w + 2 == words && peers > 0) mask |= d.below(1u << peers) << local % 64;
          if (d.one_in(20)) mask |= 1ull << d.below(64);
          setup.push_back(cluster_of(w, mask));
        }
      } else if (!d.one_in(4)) {
        const std::uint64_t barrier = d.below(d.one_in(50) ? 128 : barriers);
        const std::uint64_t thread = d.below(d.one_in(20) ? 256 : most);
        const std::uint64_t stray = d.one_in(50) ? d.below(64) : 0;
        switch (d.below(8)) {
          case 0: waiting = {true, false, hbs::sense(barrier, thread) + stray, 0}; break;
          case 1: waiting = {true, true, hbs::init(barrier, thread) + stray, 0}; break;
          case 2:
            waiting = {true, false, hbs::state(barrier, d.below(words), words) + stray, 0};
            break;
          case 3: waiting = {true, false, hbs::cluster(barrier, d.below(words), words), 0}; break;
          case 4: waiting = {true, d.one_in(3), hbs::error, d.below(32)}; break;
          case 5: waiting = {true, false, d.one_in(2) ? hbs::id : hbs::capability, 0}; break;
          default: waiting = {true, true, hbs::trigger(barrier, thread) + stray, 0}; break;
        }
      }
    }
    in.request = waiting;
    if (!in.request.valid) in.request = {false, d.one_in(2), d.below(1u << 23), d.below(8)};
    for (unsigned k = 0; k < peers; ++k) {
      in.announced |= (d.one_in(6) ? 1u : 0u) << k;
      in.announced_barrier[k] = static_cast<unsigned>(d.below(barriers));
    }
    in.takes = static_cast<unsigned>(d.word());

    auto& p = unit.ports();
    unit.ask(in.request, p.req_addr_i);
    p.in_valid_i = static_cast<std::uint8_t>(in.announced);
    p.out_ready_i = static_cast<std::uint8_t>(in.takes & ((1u << (peers == 0 ? 1 : peers)) - 1));
    for (unsigned k = 0; k < peers; ++k)
      rtl::set_field(p.in_barrier_i, 2 * k, 2, in.announced_barrier[k]);
    unit.settle();
    if (cycle == lost) in.request = {};
    const hbs_outputs out = copy.step(in);
    const unsigned peer_bits = (1u << peers) - 1;
    bool is_same = p.rsp_data_o == out.value && (p.req_ready_o != 0) == out.takes_request &&
                   (p.complete_valid_o != 0) == out.completes &&
                   (p.out_valid_o & peer_bits) == out.announces &&
                   (p.in_ready_o & peer_bits) == out.takes;
    if (out.announces != 0) is_same = is_same && p.out_barrier_o == out.announced_barrier;
    if (out.completes) {
      is_same = is_same && p.complete_barrier_o == out.completed_barrier;
      for (unsigned t = 0; t < local; ++t)
        is_same = is_same && rtl::field(p.complete_mask_o, t, 1) == out.completed[t];
    }
    if (!is_same) {
      seen.differs_in = cycle;
      return seen;
    }
    if (waiting.valid) {
      seen.errors += waiting.offset == hbs::error && out.value != 0;
      if (out.takes_request)
        waiting = {};
      else
        ++seen.waits;
    }
    seen.completions += out.completes;
    seen.announcements += out.announces != 0;
    unit.edge();
  }
  return seen;
}

TEST(Model, KeepsStateAsTheStructure) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const structure_seen seen = run_structure<Vtutti_cosim_hbs>(seed, 60'000, 64, 0);
    EXPECT_FALSE(seen.differs_in) << "seed " << seed << ", cycle " << *seen.differs_in;
    EXPECT_GT(seen.completions, 500u);
    EXPECT_GT(seen.errors, 10u);
  }
}

TEST(Model, AnnouncesAsTheStructure) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const structure_seen seen = run_structure<Vtutti_cosim_hbs_peers>(seed, 60'000, 70, 3);
    EXPECT_FALSE(seen.differs_in) << "seed " << seed << ", cycle " << *seen.differs_in;
    EXPECT_GT(seen.completions, 300u);
    EXPECT_GT(seen.announcements, 300u);
    EXPECT_GT(seen.waits, 300u);
    EXPECT_GT(seen.errors, 10u);
  }
  std::uint64_t noticed = 0;
  for (std::uint64_t lost = 10'000; lost < 10'040; ++lost)
    noticed += run_structure<Vtutti_cosim_hbs_peers>(1, 30'000, 70, 3, lost).differs_in.has_value();
  EXPECT_GT(noticed, 10u);
}

}  // namespace
}  // namespace tutti::hardware::model
