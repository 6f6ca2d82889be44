// SPDX-License-Identifier: Apache-2.0
// The mask unit behind AXI: some threads arrive by their triggers and read their senses, the others
// arrive and depart by pins. Nobody may leave before the last has arrived.

#include "hardware/bus/sim/axi_master.hpp"
#include "hardware/driver/registers.hpp"

namespace {

using namespace tutti::rtl;
namespace reg = tutti::hardware;

class pins {
 public:
  explicit pins(const arguments& with) : bench_(with), master_(bench_, with.seed) {
    bench_.top().pin_arrive_i = 0;
    bench_.top().pin_parity_i = 0;
    bench_.reset();
  }
  bool write(std::uint64_t address, std::uint64_t value) {
    master_.write(address, value);
    for (unsigned c = 0; c < 2'000 && master_.written.empty(); ++c) cycle();
    const bool good = !master_.written.empty() && master_.written.front().response == 0;
    master_.written.clear();
    return good;
  }
  std::uint64_t read(std::uint64_t address) {
    master_.read(address);
    for (unsigned c = 0; c < 2'000 && master_.data_read.empty(); ++c) cycle();
    const std::uint64_t data =
        master_.data_read.empty() ? ~std::uint64_t{0} : master_.data_read.front().data;
    master_.data_read.clear();
    return data;
  }
  void arrive(unsigned thread, unsigned parity) {
    set_field(bench_.top().pin_arrive_i, thread, 1, 1);
    set_field(bench_.top().pin_parity_i, thread, 1, parity);
    cycle();
    set_field(bench_.top().pin_arrive_i, thread, 1, 0);
    for (unsigned c = 0; c < 6; ++c) cycle();
  }
  unsigned sense(unsigned thread) {
    return static_cast<unsigned>(field(bench_.top().pin_sense_o, thread, 1));
  }
  const std::string& wrong() const { return master_.wrong(); }

 private:
  void cycle() {
    master_.drive();
    bench_.settle();
    master_.take();
    bench_.tick();
    master_.settle_taken();
  }
  testbench bench_;
  axi_master master_;
};

std::string run(const arguments& with) {
  pins s(with);
  std::mt19937_64 random(with.seed);
  if (s.read(reg::id) != reg::id_value) return "no identity";
  if (!s.write(reg::size, THREADS) || !s.write(reg::control, reg::control_enable) ||
      s.read(reg::size) != THREADS)
    return "the unit refuses its configuration";
  const auto episodes = static_cast<unsigned>(with.cycles / 5'000 + 10);
  for (unsigned e = 0; e < episodes; ++e) {
    const unsigned parity = e % 2;
    const std::uint64_t uses = (e / 2 + 1) & 0xff;
    for (unsigned t = 0; t < THREADS; ++t) {
      for (unsigned other = 0; other < THREADS; ++other)
        if (s.sense(other) != parity) return "a pin shows a departure before the last arrival";
      if (s.read(reg::sense(parity, t)) >> 32 == uses) return "a departure before the last arrival";
      if (random() % 2 != 0)
        s.arrive(t, parity);
      else if (!s.write(reg::trigger(parity, t), 1))
        return "an arrival is refused";
    }
    for (unsigned t = 0; t < THREADS; ++t) {
      if (s.read(reg::sense(parity, t)) >> 32 != uses) return "no departure";
      if (s.sense(t) == parity) return "a pin shows no departure";
    }
    if (!s.wrong().empty()) return s.wrong();
  }
  if (s.read(reg::error) != 0) return "the unit reports an error";
  std::printf("{\"episodes\": %u}\n", episodes);
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
