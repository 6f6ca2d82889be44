// SPDX-License-Identifier: Apache-2.0
// The Hardware Barrier Structure behind AXI: a kernel creates barriers of random threads, with and
// without the peer, by writing clusters; threads arrive by their triggers and read their senses;
// announcements leave to the peer and come from it. Every register is read back.

#include "hardware/bus/sim/axi_master.hpp"
#include "hardware/driver/hbs_registers.hpp"

namespace {

using namespace tutti::rtl;
namespace reg = tutti::hardware::hbs;

static_assert(PEERS == 1 && LOCAL < 64, "one word has the participants, and the last is the peer");

class structure {
 public:
  explicit structure(const arguments& with)
      : bench_(with), master_(bench_, with.seed), random_(with.seed) {
    bench_.top().in_valid_i = 0;
    bench_.top().in_barrier_i = 0;
    bench_.top().out_ready_i = 0;
    bench_.reset();
  }
  bool write(std::uint64_t address, std::uint64_t value) {
    master_.write(address, value);
    return run_until([&] { return !master_.written.empty(); }) &&
           pop(master_.written).response == 0;
  }
  std::uint64_t read(std::uint64_t address) {
    master_.read(address);
    if (!run_until([&] { return !master_.data_read.empty(); })) return ~std::uint64_t{0};
    return pop(master_.data_read).data;
  }
  // Waits for what is still on its way.
  void settle() {
    run_until([] { return false; }, 20);
  }
  void announce(unsigned barrier) {
    coming_.push_back(barrier);
    run_until([&] { return coming_.empty(); });
  }

  // Announcements to the peer and complete messages, by barrier.
  unsigned announced[BARRIERS] = {}, completed[BARRIERS] = {};
  std::uint64_t told[BARRIERS] = {};
  const std::string& wrong() const { return master_.wrong(); }

 private:
  static axi_master::answer pop(std::deque<axi_master::answer>& answers) {
    const axi_master::answer first = answers.front();
    answers.pop_front();
    return first;
  }
  template <class Done>
  bool run_until(Done done, unsigned cycles = 2'000) {
    for (unsigned c = 0; c < cycles && !done(); ++c) cycle();
    return done();
  }
  void cycle() {
    model& top = bench_.top();
    master_.drive();
    top.out_ready_i = random_() % 2;
    top.in_valid_i = !coming_.empty();
    if (!coming_.empty()) top.in_barrier_i = static_cast<std::uint8_t>(coming_.front());
    bench_.settle();
    master_.take();
    if (top.in_valid_i && top.in_ready_o) coming_.pop_front();
    if (top.out_valid_o && top.out_ready_i) ++announced[top.out_barrier_o];
    if (top.complete_valid_o) {
      ++completed[top.complete_barrier_o];
      told[top.complete_barrier_o] = top.complete_mask_o;
    }
    bench_.tick();
    master_.settle_taken();
  }

  testbench bench_;
  axi_master master_;
  std::mt19937_64 random_;
  std::deque<unsigned> coming_;
};

std::string run(const arguments& with) {
  structure s(with);
  std::mt19937_64 random(with.seed);
  if (s.read(reg::id) != reg::id_value) return "no identity";
  const reg::capabilities has = reg::capabilities::of(s.read(reg::capability));
  if (has.local != LOCAL || has.barriers != BARRIERS || has.words != 2) return "wrong capabilities";
  const auto rounds = static_cast<unsigned>(with.cycles / 10'000 + 5);
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned b = random() % BARRIERS;
    const bool peer = random() % 2 != 0;
    std::uint64_t mask = 0;
    while (mask == 0) mask = random() % (std::uint64_t{1} << LOCAL);
    const std::uint64_t bits = mask | std::uint64_t{peer} << LOCAL;
    if (!s.write(reg::cluster(b, 0, 2), bits) || !s.write(reg::cluster(b, 1, 2), 0))
      return "a cluster is not written";
    if (s.read(reg::cluster(b, 0, 2)) != bits) return "the participants are others";
    for (unsigned episode = 1; episode < 4; ++episode) {
      const unsigned announced = s.announced[b], completed = s.completed[b];
      std::uint64_t arrived = 0;
      for (unsigned t = 0; t < LOCAL; ++t) {
        if ((mask >> t & 1) == 0) continue;
        if (s.completed[b] != completed) return "complete before the last arrival";
        if (!s.write(reg::trigger(b, t), 1)) return "an arrival is refused";
        arrived |= std::uint64_t{1} << t;
        s.settle();
        const std::uint64_t state = s.read(reg::state(b, 0, 2));
        if (arrived != mask || peer ? state != arrived : state != 0)
          return "the state shows other arrivals";
      }
      if (s.announced[b] != announced + peer) return "announcements are lost or made up";
      if (peer) {
        if (s.completed[b] != completed) return "complete without the peer";
        s.announce(b);
        s.settle();
      }
      if (s.completed[b] != completed + 1 || s.told[b] != mask) return "the wrong threads are told";
      for (unsigned t = 0; t < LOCAL; ++t)
        if (s.read(reg::sense(b, t)) >> 32 != episode) return "a sense shows another episode";
    }
    if (s.read(reg::error) != 0) return "the structure reports an error";
    if (!s.wrong().empty()) return s.wrong();
  }
  if (!s.write(reg::trigger(BARRIERS, 0), 1) || s.read(reg::error) != reg::out_of_range)
    return "an arrival out of range is not reported";
  std::printf("{\"rounds\": %u}\n", rounds);
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
