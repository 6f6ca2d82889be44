// SPDX-License-Identifier: Apache-2.0
// The Verilated system with a program in it: tests and measurements configure it, run it and read
// its events.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

class Vtutti_isa_system;
class VerilatedContext;
class VerilatedVcdC;

namespace tutti::isa {

inline constexpr unsigned built_cores = 16;

// Numbered as in software/machine.h.
enum class tag : std::uint8_t {
  exit = 0,
  arrive = 1,
  depart = 2,
  value = 3,
  timeout = 5,
  restart = 6,
  denied = 7,
  thread_switch = 8,
  fault = 9,
  broken = 10,
  moved = 11
};
enum class parameter : std::uint8_t {
  program = 0,
  cores = 1,
  episodes = 2,
  threads = 3,
  quantum = 4,
  timeout = 5,
  policy = 6,
  a = 7,
  b = 8,
  seed = 9,
  move_to = 10,
  // Set by the harness: the number of starts of the system.
  boot = 11
};

struct settings {
  unsigned cores = 2;
  // Cycles, at least 2.
  unsigned mem_latency = 10;
  // Bank c is beside core c.
  bool near = false;
  // Stores do not wait.
  bool posted = true;
  // Cycles between a core and the barrier unit, in each direction; at most 63.
  unsigned unit_distance = 0;
  std::array<std::uint32_t, 16> parameters{};

  std::uint32_t& operator[](parameter p) { return parameters[static_cast<std::size_t>(p)]; }
};

struct event {
  std::uint64_t cycle;
  unsigned core;
  isa::tag tag;
  std::uint32_t data;
};

struct interrupt {
  std::uint64_t cycle;
  unsigned core;
};

class system {
 public:
  // `image` is the output of software/build.sh. Throws std::runtime_error if it cannot be read or
  // does not fit, and std::invalid_argument for settings out of range. With `waves` a VCD file is
  // written.
  system(const std::string& image, const settings& s, const std::string& waves = {});
  ~system();
  system(const system&) = delete;
  system& operator=(const system&) = delete;

  // Runs until every core has exited or halted; returns false after `most` cycles.
  bool run(std::uint64_t most);
  // Runs a number of cycles unconditionally.
  void step(std::uint64_t cycles);
  // Resets everything and starts the program again.
  void reset();

  void interrupts(std::vector<interrupt> at);

  std::uint64_t cycle() const noexcept { return cycle_; }
  const std::vector<event>& events() const noexcept { return events_; }
  bool halted(unsigned core) const noexcept;
  // Messages that cores sent to the barrier unit; the next one counts memory requests that found
  // their bank busy.
  std::uint64_t arrivals() const noexcept { return arrivals_; }
  std::uint64_t queued() const noexcept { return queued_; }

  // Returns the data of all events of a kind, of one core or (core < 0) of all.
  std::vector<std::uint32_t> data(isa::tag t, int core = -1) const;
  std::size_t count(isa::tag t) const { return data(t).size(); }

 private:
  void load();
  void tick();

  settings settings_;
  std::vector<std::uint32_t> image_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vtutti_isa_system> model_;
  std::unique_ptr<VerilatedVcdC> waves_;
  std::vector<interrupt> interrupts_;
  std::vector<event> events_;
  std::uint64_t cycle_ = 0, time_ = 0, arrivals_ = 0, queued_ = 0;
  std::uint32_t exited_ = 0;
  std::uint32_t boots_ = 0;
};

// Checks the arrive and depart events of software/tests.c: no departure of an episode before its
// last arrival, none missing, none twice. Returns one sentence for each violation, and nothing if
// there is none.
std::vector<std::string> check_episodes(const std::vector<event>& events, unsigned cores,
                                        unsigned threads, std::uint32_t episodes);

}  // namespace tutti::isa
