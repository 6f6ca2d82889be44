// SPDX-License-Identifier: Apache-2.0
// A node: the Verilated engine between an arbiter over input queues and the output queues, as in a
// NetFPGA's pipeline.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hardware/flow/testbench.hpp"
#include "hardware/innetwork/sim/packet.hpp"
#include "hardware/innetwork/sim/topology.hpp"

namespace tutti::rtl {

// Queue 2 * port, and + 1 for the host beside it.
inline constexpr unsigned queues = 2 * PORTS;

namespace reg {
inline constexpr unsigned id = 0x00, version = 0x08, capability = 0x10, error = 0x18,
                          counted = 0x20, repeated = 0x28, stranger = 0x30, forwarded = 0x38,
                          echoed = 0x40, bad = 0x48, timer = 0x50, clock = 0x58;
inline constexpr std::uint64_t error_refused = 1, error_repeated = 2, error_stranger = 4;
inline unsigned window(unsigned communicator) { return 0x2000 + communicator * 0x100; }
inline constexpr unsigned control = 0x00, key = 0x08, stages = 0x10, state = 0x18, need = 0x40,
                          send = 0x80;
}  // namespace reg

struct key {
  unsigned communicator = 0, topology = 0, role = 0;
  std::uint32_t incarnation = 0;
  // Repeated messages are echoed.
  bool echoes = false;
};

struct arrived_frame {
  frame bytes;
  // The cycle in which its queue received it.
  std::uint64_t queued = 0;
  // Its end says that it is damaged.
  bool bad = false;
};

struct departure {
  frame bytes;
  // One bit for each queue.
  std::uint32_t to = 0;
  unsigned origin = 0;
  bool bad = false;
  // Cycles of its first and last beat.
  std::uint64_t first = 0, last = 0;
};

// The behaviour of the streams: a beat is offered, and one is taken, in this many of 16 cycles.
struct pace {
  unsigned offer = 16, take = 16;
};

class node {
 public:
  explicit node(const arguments& with, std::uint64_t seed) : bench_(with), random_(seed) {
    idle_inputs();
    bench_.reset();
    epoch_ = now();
  }

  testbench& bench() { return bench_; }
  std::uint64_t now() const { return bench_.cycle(); }
  // The engine's own time in that cycle.
  std::uint64_t stamp(std::uint64_t cycle) const { return cycle - epoch_; }
  pace speed;
  // The bytes that the stream shows where they are not kept, by place in the frame; if empty,
  // random bytes.
  frame beyond;
  std::function<void(departure)> on_departure;
  // Called when a frame's first beat has gone in, with the queue, the cycle in which it was queued,
  // and this cycle. entering() is the frame.
  std::function<void(unsigned, std::uint64_t, std::uint64_t)> on_entry;

  void enqueue(unsigned queue, frame f, bool bad = false) {
    in_[queue].push_back({std::move(f), now(), bad});
  }
  const arrived_frame& entering() const { return current_; }
  std::size_t queued(unsigned queue) const { return in_[queue].size(); }
  bool quiet() const {
    for (const auto& q : in_)
      if (!q.empty()) return false;
    return current_.bytes.empty() && out_.bytes.empty();
  }

  void write(unsigned address, std::uint64_t value) {
    write_register(bench_.top(), address, value, [this] { cycle(); });
  }
  std::uint64_t read(unsigned address) {
    model& top = bench_.top();
    top.req_valid_i = 1;
    top.req_write_i = 0;
    top.req_addr_i = static_cast<std::uint16_t>(address);
    cycle();
    top.req_valid_i = 0;
    bench_.settle();
    return top.rsp_data_o;
  }

  // Writes a station's table; returns true if the engine accepted it.
  bool configure(unsigned communicator, const key& k, const std::vector<table_row>& rows) {
    const unsigned w = reg::window(communicator);
    write(w + reg::control, 0);
    write(w + reg::key, k.communicator | k.topology << 16 | std::uint64_t{k.role} << 24 |
                            std::uint64_t{k.incarnation} << 32);
    write(w + reg::stages, rows.size());
    for (unsigned s = 0; s < rows.size(); ++s) {
      write(w + reg::need + 8 * s, rows[s].need);
      write(w + reg::send + 8 * s, rows[s].send);
    }
    const std::uint64_t control = k.echoes ? 3 : 1;
    write(w + reg::control, control);
    return read(w + reg::control) == control;
  }

  // Steps the engine and its queues by one clock. wrong() reports violations of the stream
  // protocol.
  void cycle() {
    model& top = bench_.top();
    offer(top);
    top.out_ready_i = random_() % 16 < speed.take;
    bench_.settle();
    watch(top);
    const bool taken = top.in_valid_i && top.in_ready_o;
    if (top.out_valid_o && top.out_ready_i) collect(top);
    bench_.tick();
    if (!taken) return;
    if (sent_ == 0 && on_entry) on_entry(queue_, current_.queued, now() - 1);
    sent_ += 8;
    offered_ = false;
    if (sent_ >= current_.bytes.size()) current_.bytes.clear();
  }

  const std::string& wrong() const { return wrong_; }

 private:
  void idle_inputs() {
    model& top = bench_.top();
    top.in_valid_i = 0;
    top.out_ready_i = 0;
    top.req_valid_i = 0;
    top.req_write_i = 0;
  }

  void offer(model& top) {
    if (current_.bytes.empty()) {
      for (unsigned i = 1; i <= queues; ++i) {
        const unsigned q = (queue_ + i) % queues;
        if (in_[q].empty()) continue;
        current_ = std::move(in_[q].front());
        in_[q].pop_front();
        queue_ = q;
        sent_ = 0;
        break;
      }
    }
    offered_ = !current_.bytes.empty() && (offered_ || random_() % 16 < speed.offer);
    top.in_valid_i = offered_;
    if (!offered_) return;
    const std::size_t left = std::min<std::size_t>(8, current_.bytes.size() - sent_);
    // Bytes that are not kept have arbitrary values.
    std::uint64_t data = random_();
    for (std::size_t b = left; b < 8 && sent_ + b < beyond.size(); ++b) {
      data &= ~(std::uint64_t{0xff} << 8 * b);
      data |= std::uint64_t{beyond[sent_ + b]} << 8 * b;
    }
    for (std::size_t b = 0; b < left; ++b) {
      data &= ~(std::uint64_t{0xff} << 8 * b);
      data |= std::uint64_t{current_.bytes[sent_ + b]} << 8 * b;
    }
    top.in_data_i = data;
    top.in_keep_i = static_cast<std::uint8_t>((1u << left) - 1);
    top.in_last_i = sent_ + left == current_.bytes.size();
    // Before the last beat it means nothing.
    top.in_bad_i = top.in_last_i ? current_.bad : sent_ / 8 % 3 == 1;
    top.in_source_i = static_cast<std::uint32_t>(current_.bytes.size() << 4 | queue_);
  }

  void watch(const model& top) {
    const shown s{static_cast<bool>(top.out_valid_o),
                  static_cast<bool>(top.out_last_o),
                  static_cast<bool>(top.out_bad_o),
                  top.out_keep_o,
                  top.out_data_o,
                  top.out_route_o};
    if (before_.valid && !(s == before_) && wrong_.empty())
      wrong_ = "cycle " + std::to_string(now()) + ": what was offered changed before it was taken";
    before_ = s;
    before_.valid = s.valid && !top.out_ready_i;
  }

  void collect(const model& top) {
    if (out_.bytes.empty()) {
      out_.first = now();
      out_.to = static_cast<std::uint32_t>(field(top.out_route_o, 20, 16));
      out_.origin = static_cast<unsigned>(field(top.out_route_o, 0, 4));
      announced_ = field(top.out_route_o, 4, 16);
    }
    for (unsigned b = 0; b < 8; ++b)
      if (top.out_keep_o >> b & 1)
        out_.bytes.push_back(static_cast<std::uint8_t>(top.out_data_o >> 8 * b & 0xff));
    if (!top.out_last_o) {
      if (top.out_keep_o != 0xff && wrong_.empty()) wrong_ = "a beat before the last is not full";
      return;
    }
    if (announced_ != out_.bytes.size() && wrong_.empty())
      wrong_ = "a packet of " + std::to_string(out_.bytes.size()) +
               " bytes was announced as one of " + std::to_string(announced_);
    out_.bad = top.out_bad_o;
    out_.last = now();
    departure done = std::exchange(out_, {});
    if (on_departure) on_departure(std::move(done));
  }

  struct shown {
    bool valid = false, last = false, bad = false;
    unsigned keep = 0;
    std::uint64_t data = 0, route = 0;
    friend bool operator==(const shown&, const shown&) = default;
  };

  testbench bench_;
  std::mt19937_64 random_;
  std::deque<arrived_frame> in_[queues];
  arrived_frame current_;
  std::uint64_t epoch_ = 0;
  unsigned queue_ = 0;
  std::size_t sent_ = 0;
  bool offered_ = false;
  departure out_;
  std::uint64_t announced_ = 0;
  shown before_;
  std::string wrong_;
};

}  // namespace tutti::rtl
