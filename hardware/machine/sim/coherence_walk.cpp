// SPDX-License-Identifier: Apache-2.0
// A random walk of the coherence proof's top: any accesses, messages that take any time, resets.
// Verilator checks every assertion and assumption of the proof in each cycle and counts its covers.
// So the walk reaches states that are too far from reset for a solver, and sizes that are too large
// for one. Now and then no access begins any more and messages arrive at once: all accesses end.

#include <array>

#include "hardware/flow/testbench.hpp"

namespace {

using namespace tutti::rtl;

class walker {
 public:
  walker(testbench& bench, std::uint64_t seed) : bench_(bench), top_(bench.top()), random_(seed) {}

  std::string run(std::uint64_t cycles) {
    top_.rst_ni = 0;
    while (bench_.cycle() < cycles) {
      choose();
      const std::uint64_t until = bench_.cycle() + 16 + random_() % 500;
      while (bench_.cycle() < until) step();
      if (random_() % 4 != 0) continue;
      if (std::string wrong = finish(); !wrong.empty()) return wrong;
    }
    std::printf("{\"cycles\": %llu, \"accesses\": %llu}\n",
                static_cast<unsigned long long>(bench_.cycle()),
                static_cast<unsigned long long>(accesses_));
    return {};
  }

 private:
  static constexpr unsigned access_bits = 72, operations = 13;
  // Sources of messages are drawn, so that each waits for its turn.
  static constexpr unsigned patience = 1000 * CACHES;

  // How often (of 16) something comes in a cycle; now and then never for a while.
  unsigned pace() { return random_() % 8 == 0 ? 0 : std::array{1u, 4u, 16u}[random_() % 3]; }
  bool comes(unsigned often) { return random_() % 16 < often; }

  void choose() {
    for (unsigned c = 0; c < CACHES; ++c) {
      begins_[c] = pace();
      forwards_[c] = pace();
      responses_[c] = pace();
      one_line_[c] = random_() % 2 == 0;
      kinds_[c] = static_cast<unsigned>(random_() % 4);
    }
    requests_ = pace();
    homes_ = pace();
    resets_ = random_() % 8 == 0;
  }

  std::string finish() {
    begins_ = {};
    forwards_.fill(16);
    responses_.fill(16);
    requests_ = homes_ = 16;
    resets_ = false;
    const std::uint64_t until = bench_.cycle() + patience;
    while (open_ != std::array<bool, CACHES>{}) {
      if (bench_.cycle() == until) {
        std::string wrong = "these caches' accesses do not end:";
        for (unsigned c = 0; c < CACHES; ++c)
          if (open_[c]) wrong += " " + std::to_string(c);
        return wrong;
      }
      step();
    }
    return {};
  }

  void step() {
    top_.rst_ni = bench_.cycle() != 0 && !(resets_ && random_() % 64 == 0);
    for (unsigned c = 0; c < CACHES; ++c) {
      if (!open_[c]) {
        open_[c] = comes(begins_[c]);
        set_field(top_.valid_i, c, 1, open_[c]);
        draw(c);
      }
      set_field(top_.forward_arrives_i, c, 1, comes(forwards_[c]));
      set_field(top_.response_arrives_i, c, 1, comes(responses_[c]));
      set_field(top_.response_from_i, 3 * c, 3, random_() % (CACHES + 1));
    }
    top_.request_arrives_i = comes(requests_);
    top_.request_from_i = random_() % CACHES;
    top_.home_arrives_i = comes(homes_);
    top_.home_from_i = random_() % CACHES;
    bench_.settle();
    for (unsigned c = 0; c < CACHES; ++c)
      if (open_[c] && field(top_.ready_o, c, 1) != 0) {
        open_[c] = false;
        ++accesses_;
      }
    if (top_.rst_ni == 0) open_ = {};
    bench_.tick();
  }

  // Loads; loads and stores; reserved pairs; everything. Of two lines, now and then elsewhere.
  void draw(unsigned c) {
    unsigned op = 0;
    if (kinds_[c] == 1) op = random_() % 2;
    if (kinds_[c] == 2) op = 2 + random_() % 2;
    if (kinds_[c] == 3) op = random_() % operations;
    std::uint32_t address = 0x8000'0000;
    if (!one_line_[c]) address += 4 * static_cast<std::uint32_t>(random_() % 2);
    if (random_() % 64 == 0) address += random_() % 2 == 0 ? 8 : 0x8000'0000;
    const std::uint32_t word =
        static_cast<std::uint32_t>(random_() % 4 == 0 ? random_() % 4 : random_());
    const unsigned at = c * access_bits;
    set_field(top_.access_i, at, 4, random_() % 2 == 0 ? 0xf : random_() % 16);
    set_field(top_.access_i, at + 4, 32, word);
    set_field(top_.access_i, at + 36, 32, address);
    set_field(top_.access_i, at + 68, 4, op);
  }

  testbench& bench_;
  model& top_;
  std::mt19937_64 random_;
  std::array<bool, CACHES> open_{}, one_line_{};
  std::array<unsigned, CACHES> begins_{}, forwards_{}, responses_{}, kinds_{};
  unsigned requests_ = 0, homes_ = 0;
  bool resets_ = false;
  std::uint64_t accesses_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return run_harness(argc, argv, [](const arguments& with) -> std::string {
    testbench bench(with);
    return walker(bench, with.seed).run(with.cycles);
  });
}
