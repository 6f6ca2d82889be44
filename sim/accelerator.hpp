// SPDX-License-Identifier: Apache-2.0
// The accelerator of a simulated machine, with a barrier unit, as the device of the units' driver:
// the protocol of hardware/driver runs on it as it is.
//
//   accelerator unit(machine, unit_kind::counting, channel::any);
//   hardware::harp_protocol<simulated_atomic<std::uint64_t>> barrier(unit, 28);
//
// * A register access of a core passes the link, which carries so many at the same time. The unit
//   takes one in a cycle; a read's answer passes the link back.
// * A line that the accelerator reads stays in its cache until a core writes it. It writes lines to
//   memory, by one of three channels.
// * Eight lines take messages. The accelerator has copies of them; when a core's write takes a copy
//   away, it reads the line again, and the unit gets a message if the line has changed. So two
//   writes that come before the line has been read again are one message.
//
// The unit is a model that is exact to the cycle (hardware/model).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "hardware/driver/device.hpp"
#include "hardware/model/counting_unit.hpp"
#include "sim/machine.hpp"
#include "sim/simulated.hpp"

namespace tutti::sim {

enum class unit_kind { counting, mask };

// By which the accelerator writes lines; `any` takes them in turn.
enum class channel { vl0, vh0, vh1, any };

class accelerator final : public hardware::basic_device<simulated_atomic<std::uint64_t>> {
 public:
  using word = simulated_atomic<std::uint64_t>;

  accelerator(const machine& m, unit_kind kind, channel writes_by);
  ~accelerator() override;

  std::uint64_t read(std::uint64_t offset) override;
  void write(std::uint64_t offset, std::uint64_t value) override;
  const std::string& name() const noexcept override { return name_; }
  std::uint64_t window() const noexcept override { return UINT64_MAX; }
  hardware::basic_shared_memory<word> memory() noexcept override;
  unsigned message_addresses() const noexcept override { return addresses; }
  void send(unsigned address) override;

  // Starts the clock of a unit that polls memory: no access of a register does it. To be called in
  // a run, before the first arrival.
  void power_on();

  // What the unit got so far.
  std::uint64_t messages() const noexcept { return messages_given_; }

 private:
  static constexpr unsigned addresses = 8;
  static constexpr std::uint64_t bus_address = 0x1000'0000;

  class unit;
  template <class Model>
  class unit_of;

  struct access {
    hardware::model::register_request what;
    // The thread that reads, and where it finds the answer.
    std::uint32_t thread = 0;
    std::uint64_t* answer = nullptr;
  };
  struct memory_answer {
    unsigned tag;
    std::uint64_t value;
  };
  struct alignas(64) line {
    std::array<word, 8> words;
  };

  // Registers.
  void send_over_link(const access& a);
  void fill_link();
  void reply(const access& a, std::uint64_t value);
  // The clock.
  void need_clock();
  void edge();
  // Memory.
  word& at(std::uint64_t address);
  void begin_read(unsigned tag, std::uint64_t address);
  void begin_write(std::uint64_t address, std::uint64_t value);
  void take_answer(unsigned tag, std::uint64_t value);
  // Messages.
  void watch(unsigned address);

  const machine::accelerator_part part_;
  const channel writes_by_;
  std::string name_;
  std::unique_ptr<unit> unit_;
  std::unique_ptr<line[]> memory_, message_lines_;

  std::deque<access> waiting_, at_port_;
  unsigned on_link_ = 0, reads_on_link_ = 0, writes_on_link_ = 0, writes_ = 0;
  std::deque<memory_answer> answers_;
  std::deque<unsigned> messages_;
  std::uint64_t messages_given_ = 0;
  bool watches_ = false, clock_is_due_ = false;
  // What has been seen on the lines of messages, and what their writers have written last.
  std::array<std::uint64_t, addresses> seen_{}, sent_{};
};

}  // namespace tutti::sim
