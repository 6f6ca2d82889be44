// SPDX-License-Identifier: Apache-2.0
// A Verilated machine of one size behind an interface that is the same for all sizes. CMake
// compiles model.cpp once for each size that it builds; models() lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti::machine {

// Numbered as in rtl/tutti_machine_core_pkg.sv.
enum class activity : std::uint8_t { runs, accesses, extends, sleeps };

// A cache's miss.
struct miss {
  bool open = false, has_data = false;
  // Acknowledgements that are missing.
  int acks = 0;
  // Numbered from the beginning of the RAM.
  std::uint32_t line = 0;
};

// What the home of a line works on; numbered as in rtl/tutti_machine_pkg.sv.
struct transaction {
  unsigned step = 0, kind = 0;
  // A core of the model.
  unsigned requester = 0;
  std::uint32_t line = 0;
};

// What a mailbox does, and the waves of the detector of messages.
struct mailbox_state {
  // The thread is idle, and has voted so.
  bool idle = false, vote = false;
  // It has an empty slot, and a message that the network has not taken.
  bool takes = false, sends = false;
};
struct wave_state {
  // 0 detects, 1 releases, 2 enables.
  unsigned phase = 0;
  bool begins = false, ends = false, detected = false;
};

// A barrier of a socket's unit: one bit for each core of the socket.
struct barrier_state {
  std::uint32_t participants = 0, arrived = 0, owed = 0;
};

class model {
 public:
  virtual ~model() = default;

  virtual void reset(bool held) = 0;
  virtual void cores_of_a_socket(unsigned each) = 0;
  // Cycles from a core to the units of its socket, and from there to another socket.
  virtual void unit_distance(unsigned cycles, unsigned link) = 0;
  virtual void external_interrupts(std::uint64_t cores) = 0;
  // Makes the outputs of this cycle visible, before the rising edge.
  virtual void settle() = 0;
  virtual void rise() = 0;

  // What programs tell the harness. Cores are numbered as built.
  virtual std::uint64_t reports() const = 0;
  virtual unsigned report_kind(unsigned core) const = 0;
  virtual std::uint32_t report_data(unsigned core) const = 0;

  // One bit for each core that retires an instruction in this cycle.
  virtual std::uint64_t retired() const = 0;
  virtual machine::activity activity(unsigned core) const = 0;
  virtual std::uint32_t pc(unsigned core) const = 0;
  // The last access to the RAM; all threads of a core have that of the core.
  virtual unsigned access_op(unsigned core) const = 0;
  virtual std::uint32_t access_address(unsigned core) const = 0;

  virtual machine::miss miss(unsigned core) const = 0;
  virtual unsigned transactions() const = 0;
  virtual machine::transaction transaction(unsigned number) const = 0;
  // The barrier at which a core waits, or -1.
  virtual int waits_at(unsigned core) const = 0;
  // The number of the structures' or the mask unit's barrier at which a core waits, or 0.
  virtual unsigned waits_at_structure(unsigned core) const = 0;
  // Without mailboxes, that of a mailbox which does nothing.
  virtual mailbox_state mailbox(unsigned core) const = 0;
  virtual wave_state wave() const = 0;
  // Misuse that the detector has found, which is a fault of the machine.
  virtual bool detector_is_wrong() const = 0;
  virtual barrier_state barrier(unsigned socket, unsigned number) const = 0;

  virtual std::span<std::uint32_t> image() = 0;
};

struct built_model {
  // Programs take hardware threads for cores, and so do all numbers here.
  unsigned cores, sockets;
  // How many of them share a core.
  unsigned threads;
  // The RAM has no caches, distance or contention.
  bool ideal;
  // The cores have mailboxes.
  bool messages;
  std::unique_ptr<model> (*make)();
};

// The models of this build, the smallest first.
const std::vector<built_model>& models();

// Adds a model at the start of the program; model.cpp calls it.
bool add_model(const built_model& built);

}  // namespace tutti::machine
