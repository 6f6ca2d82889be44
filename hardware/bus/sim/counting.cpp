// SPDX-License-Identifier: Apache-2.0
// Threads at the counting unit behind AXI: they arrive by a register and read their sense, or
// arrive and depart by memory, which answers reads out of order, takes addresses and data of writes
// at random times, and shows a write when it answers it. Nobody may leave before the last has
// arrived, and every episode must end. A read that fails is no arrival, and no departure comes
// behind a reset of which software has read STATUS.

#include <map>

#include "hardware/bus/sim/axi_master.hpp"
#include "hardware/driver/registers.hpp"

namespace {

using namespace tutti::rtl;
namespace reg = tutti::hardware;

constexpr unsigned slave_error = 2;
constexpr std::uint64_t arrivals_at = 0x1'0000, departures_at = 0x2'0000;

class system {
 public:
  explicit system(const arguments& with)
      : bench_(with), master_(bench_, with.seed), random_(with.seed) {
    model& top = bench_.top();
    top.m_axi_rvalid = top.m_axi_bvalid = top.m_axi_arready = top.m_axi_awready = 0;
    top.m_axi_wready = 0;
    top.m_axi_rresp = top.m_axi_bresp = 0;
    bench_.reset();
  }

  std::string write(std::uint64_t address, std::uint64_t value, unsigned strobes = 0xff) {
    master_.write(address, value, strobes);
    if (!run_until([&] { return !master_.written.empty(); })) return "a write has no answer";
    const unsigned expected = strobes == 0xff ? 0 : 2;
    const unsigned response = master_.written.front().response;
    master_.written.pop_front();
    return response == expected ? "" : "a write has a wrong answer";
  }
  std::uint64_t read(std::uint64_t address) {
    master_.read(address);
    if (!run_until([&] { return !master_.data_read.empty(); })) return ~std::uint64_t{0};
    const std::uint64_t data = master_.data_read.front().data;
    master_.data_read.pop_front();
    return data;
  }

  template <class Done>
  bool run_until(Done done, unsigned cycles = 5'000) {
    for (unsigned c = 0; c < cycles; ++c) {
      if (done()) return true;
      cycle();
    }
    return done();
  }

  std::map<std::uint64_t, std::uint64_t> memory;
  // All reads of memory fail, and hold 0.
  bool reads_fail = false;
  // Memory answers a write in one of so many cycles.
  unsigned writes_take = 4;
  // The writes that memory has begun to take, and whether it owes an answer.
  unsigned writes_begun = 0;
  bool owes() const {
    return !write_addresses_.empty() || !write_data_.empty() || !writes_.empty();
  }
  std::string wrong() const { return wrong_.empty() ? master_.wrong() : wrong_; }

 private:
  struct flight {
    std::uint64_t data;
    unsigned id;
    bool fails;
  };
  struct memory_write {
    std::uint64_t address, data;
  };

  void cycle() {
    model& top = bench_.top();
    master_.drive();
    top.m_axi_arready = random_() % 3 == 0;
    top.m_axi_awready = random_() % 3 == 0;
    top.m_axi_wready = random_() % 3 == 0;
    top.m_axi_rvalid = !flights_.empty() && random_() % 2 == 0;
    if (top.m_axi_rvalid) {
      const std::size_t which = random_() % flights_.size();
      top.m_axi_rid = static_cast<std::uint8_t>(flights_[which].id);
      top.m_axi_rdata = flights_[which].data;
      top.m_axi_rresp = flights_[which].fails ? slave_error : 0;
      flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    top.m_axi_bvalid = !writes_.empty() && random_() % writes_take == 0;
    if (top.m_axi_bvalid) {
      memory[writes_.front().address] = writes_.front().data;
      writes_.pop_front();
    }
    bench_.settle();
    master_.take();
    if (held_ar_ && (!top.m_axi_arvalid || top.m_axi_araddr != *held_ar_))
      wrong_ = "the address of a read changes";
    held_ar_.reset();
    if (top.m_axi_arvalid && !top.m_axi_arready) held_ar_ = top.m_axi_araddr;
    if (held_aw_ && (!top.m_axi_awvalid || top.m_axi_awaddr != *held_aw_))
      wrong_ = "the address of a write changes";
    held_aw_.reset();
    if (top.m_axi_awvalid && !top.m_axi_awready) held_aw_ = top.m_axi_awaddr;
    if (top.m_axi_arvalid && top.m_axi_arready)
      flights_.push_back({reads_fail ? 0 : memory[top.m_axi_araddr], top.m_axi_arid, reads_fail});
    if (top.m_axi_awvalid && top.m_axi_awready) {
      write_addresses_.push_back(top.m_axi_awaddr);
      ++writes_begun;
    }
    if (top.m_axi_wvalid && top.m_axi_wready) write_data_.push_back(top.m_axi_wdata);
    while (!write_addresses_.empty() && !write_data_.empty()) {
      writes_.push_back({write_addresses_.front(), write_data_.front()});
      write_addresses_.pop_front();
      write_data_.pop_front();
    }
    bench_.tick();
    master_.settle_taken();
  }

  testbench bench_;
  axi_master master_;
  std::mt19937_64 random_;
  std::vector<flight> flights_;
  std::deque<std::uint64_t> write_addresses_, write_data_;
  std::deque<memory_write> writes_;
  std::optional<std::uint64_t> held_ar_, held_aw_;
  std::string wrong_;
};

std::string configure(system& s, reg::arrival_path arrival, reg::departure_path departure) {
  std::string wrong = s.write(reg::control, reg::control_reset);
  for (const auto& [address, value] : {std::pair<std::uint64_t, std::uint64_t>{reg::size, 1},
                                       {reg::arrival, static_cast<std::uint64_t>(arrival)},
                                       {reg::departure, static_cast<std::uint64_t>(departure)},
                                       {reg::arrival_base, arrivals_at},
                                       {reg::departure_base, departures_at},
                                       {reg::size, THREADS},
                                       {reg::error, 0xff}})
    wrong += s.write(address, value);
  // The answer comes after all writes, including the unit's writes to memory.
  if (s.read(reg::status) != 0) wrong += "the status is not 0 after a reset";
  s.memory.clear();
  return wrong + s.write(reg::control, reg::control_enable);
}

std::string by_registers(system& s, unsigned episodes) {
  if (std::string w = configure(s, reg::arrival_path::csr, reg::departure_path::csr); !w.empty())
    return w;
  for (unsigned e = 0; e < episodes; ++e) {
    const unsigned copy = e % 2;
    const std::uint64_t uses = (e / 2 + 1) & 0xff;
    for (unsigned t = 0; t < THREADS; ++t) {
      if (s.read(reg::sense(copy, t)) >> 32 == uses) return "a departure before the last arrival";
      // A write of a half is refused and arrives nowhere.
      if (std::string w = s.write(reg::trigger(copy, t), 1, 0x0f); !w.empty()) return w;
      if (std::string w = s.write(reg::trigger(copy, t), 1); !w.empty()) return w;
    }
    for (unsigned t = 0; t < THREADS; ++t)
      if (s.read(reg::sense(copy, t)) >> 32 != uses) return "no departure";
    if (!s.wrong().empty()) return s.wrong();
  }
  return s.read(reg::error) == 0 ? "" : "the unit reports an error";
}

std::string by_memory(system& s, unsigned episodes) {
  if (std::string w = configure(s, reg::arrival_path::memory, reg::departure_path::lines);
      !w.empty())
    return w;
  for (unsigned e = 1; e <= episodes; ++e) {
    for (unsigned t = 0; t < THREADS; ++t) {
      s.run_until([] { return false; }, 20);
      for (unsigned other = 0; other < THREADS; ++other)
        if (s.memory[departures_at + 64 * other] == e) return "a departure before the last arrival";
      s.memory[arrivals_at + 64 * t] = e;
    }
    const bool left = s.run_until([&] {
      for (unsigned t = 0; t < THREADS; ++t)
        if (s.memory[departures_at + 64 * t] != e) return false;
      return true;
    });
    if (!left) return "no departure";
    if (!s.wrong().empty()) return s.wrong();
  }
  return s.read(reg::error) == 0 ? "" : "the unit reports an error";
}

std::string expect_error(system& s, std::uint64_t expected) {
  const std::uint64_t found = s.read(reg::error);
  s.write(reg::error, found);
  if (found == expected) return {};
  return "error register " + std::to_string(found) + ", not " + std::to_string(expected);
}

// After three episodes a failed read, whose data are 0, looks like the next number.
std::string failed_reads(system& s) {
  if (std::string w = by_memory(s, 3); !w.empty()) return w;
  s.reads_fail = true;
  s.run_until([] { return false; }, 100 + 20 * THREADS);
  s.reads_fail = false;
  s.run_until([] { return false; }, 200);
  if (s.read(reg::status) != 3) return "an episode without arrivals";
  if (s.read(reg::arrived0) + s.read(reg::arrived1) != 2 * THREADS) return "an arrival of nobody";
  if (std::string w = expect_error(s, reg::poll_sequence); !w.empty()) return w;
  for (unsigned t = 0; t < THREADS; ++t) s.memory[arrivals_at + 64 * t] = 4;
  if (!s.run_until([&] { return s.memory[departures_at + 64 * (THREADS - 1)] == 4; }))
    return "no departure after reads that failed";
  return expect_error(s, 0);
}

// A reset while departures are being written, to a memory that answers them late.
std::string resets(system& s) {
  s.writes_take = 64;
  bool owed = false;
  for (unsigned round = 0; round < 30; ++round) {
    if (std::string w = configure(s, reg::arrival_path::memory, reg::departure_path::lines);
        !w.empty())
      return w;
    if (s.owes()) return "the unit has left writes to memory open";
    const unsigned before = s.writes_begun;
    for (unsigned t = 0; t < THREADS; ++t) s.memory[arrivals_at + 64 * t] = 1;
    if (!s.run_until([&] { return s.writes_begun != before; })) return "no departure";
    s.run_until([] { return false; }, round % 8);
    owed = owed || s.owes();
    if (std::string w = configure(s, reg::arrival_path::memory, reg::departure_path::lines);
        !w.empty())
      return w;
    s.run_until([] { return false; }, 400);
    for (unsigned t = 0; t < THREADS; ++t)
      if (s.memory[departures_at + 64 * t] != 0) return "a departure behind the reset";
    if (!s.wrong().empty()) return s.wrong();
  }
  s.writes_take = 4;
  return owed ? "" : "memory never owed an answer";
}

// Messages are not connected: the unit says so, and refuses them.
std::string no_messages(system& s) {
  const std::uint64_t capable = s.read(reg::capability);
  if ((capable >> 16 & 0xff) != 0) return "message addresses where no messages are";
  if ((capable >> 32 & 1) == 0) return "no memory paths";
  for (const auto& [address, value] : {std::pair<std::uint64_t, std::uint64_t>{reg::size, 1},
                                       {reg::error, 0xff},
                                       {reg::arrival, 1}})
    if (std::string w = s.write(address, value); !w.empty()) return w;
  return expect_error(s, reg::bad_path);
}

std::string run(const arguments& with) {
  system s(with);
  if (s.read(reg::id) != reg::id_value) return "no identity";
  if (std::string w = no_messages(s); !w.empty()) return w;
  const auto episodes = static_cast<unsigned>(with.cycles / 10'000 + 5);
  for (unsigned round = 0; round < 3; ++round) {
    if (std::string w = by_registers(s, episodes); !w.empty()) return "by registers: " + w;
    if (std::string w = by_memory(s, episodes); !w.empty()) return "by memory: " + w;
    if (std::string w = failed_reads(s); !w.empty()) return "reads that fail: " + w;
    if (std::string w = resets(s); !w.empty()) return "resets: " + w;
  }
  std::printf("{\"episodes\": %u}\n", 6 * episodes);
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
