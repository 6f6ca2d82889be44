// SPDX-License-Identifier: Apache-2.0
// The simulated machine with a program in it: tests and measurements configure it, run it and read
// what the program reports.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tutti::machine {

class model;

struct settings {
  // In all; the same number in each socket. Cores are numbered socket by socket.
  unsigned cores = 2;
  unsigned sockets = 1;
  // How many of them are hardware threads of one core: 1, 2, 4 or 8.
  unsigned threads = 1;
  // A RAM without caches, distance or contention, for the development of programs.
  bool ideal = false;
  // The cores have mailboxes.
  bool messages = false;
  // Cycles between a core and the barrier unit of its socket, in each direction; at most 63.
  unsigned unit_distance = 0;
  // Cycles between two sockets for messages of the barrier units, in each direction, 1 to 1023; as
  // long as a message of the memory takes.
  unsigned unit_link = 54;
  // The words of the image at 0x80.
  std::array<std::uint32_t, 32> parameters{};
  // The kernel of kernel/ takes a text there instead. Throws std::invalid_argument if it is too
  // long.
  void command_line(const std::string& text);
  // A run has stopped making progress if no core has retired an instruction for so many cycles,
  // or if no program has reported anything for `silence` cycles.
  std::uint64_t patience = 1'000'000;
  std::uint64_t silence = 100'000'000;
};

struct event {
  std::uint64_t cycle;
  unsigned core;
  // The four high bits of the word that the program wrote.
  unsigned tag;
  std::uint32_t data;
};

// A wave of the detector of messages, from its first order to its last reply.
struct wave {
  std::uint64_t begin = 0, end = 0;
  // 0 detects, 1 releases, 2 enables.
  unsigned phase = 0;
  // It has found termination.
  bool detected = false;
};

struct interrupt {
  std::uint64_t cycle;
  unsigned core;
};

class system {
 public:
  // `image` is a file that is loaded at address 0. Throws std::runtime_error if it cannot be read
  // or does not fit, and std::invalid_argument for settings that no model of this build has.
  system(const std::string& image, const settings& s);
  ~system();
  system(const system&) = delete;
  system& operator=(const system&) = delete;

  // Runs until every core has ended; returns false if that takes more than `most` cycles. Throws
  // std::runtime_error, with who waits for what, if the run stops making progress.
  bool run(std::uint64_t most);
  // The same until this core has ended, whatever the others do.
  bool run_core(unsigned core, std::uint64_t most);
  // Runs a number of cycles unconditionally.
  void step(std::uint64_t cycles);
  // Resets the machine for some cycles, at least one, and starts the program again. The RAM keeps
  // its contents.
  void reset(unsigned cycles = 2);

  // Sends external interrupts. Each is pending until the program clears it in its device.
  void interrupts(std::vector<interrupt> at);

  std::uint64_t cycle() const noexcept { return cycle_; }
  const std::vector<event>& events() const noexcept { return events_; }
  // The waves that have ended, the newest `most_waves` of them.
  static constexpr std::size_t most_waves = 1 << 16;
  const std::vector<machine::wave>& waves() const noexcept { return waves_; }
  // What the programs wrote to the console.
  const std::string& console() const noexcept { return console_; }
  bool ended(unsigned core) const noexcept { return cores_[core].ended; }
  // What the program of the core ended with.
  std::uint32_t status(unsigned core) const noexcept { return cores_[core].status; }
  std::uint64_t instructions(unsigned core) const noexcept { return cores_[core].instructions; }

  // One line for each core, and one for each transaction of a line: what it does or waits for.
  std::string who_waits_for_what() const;

 private:
  struct core_state {
    // The number in the model, which may have more cores than run.
    unsigned built = 0;
    bool ended = false;
    std::uint32_t status = 0;
    std::uint64_t instructions = 0;
    std::uint64_t last_retired = 0;
  };
  void load(const std::string& image);
  template <class IsOver>
  bool run_until(IsOver is_over, std::uint64_t most);
  void report(unsigned core, unsigned built);
  void note_wave();
  std::string waits_at_barrier(unsigned core) const;

  settings settings_;
  std::unique_ptr<machine::model> model_;
  std::vector<core_state> cores_;
  // The number for programs of each core of the model that runs.
  std::array<unsigned, 64> number_{};
  std::vector<interrupt> interrupts_;
  std::vector<event> events_;
  std::vector<machine::wave> waves_;
  std::uint64_t wave_begin_ = 0;
  std::string console_;
  std::uint64_t cycle_ = 0, last_retired_ = 0, last_report_ = 0;
  unsigned running_ = 0, built_cores_ = 0;
};

}  // namespace tutti::machine
