// SPDX-License-Identifier: Apache-2.0
// The in-network engine behind AXI: frames of all lengths come out as they went in, with the right
// tuser, and barriers work, for any behaviour of both streams. Bad frames, frames that are too long
// and frames from nowhere leave no trace, barrier packets among them.

#include <algorithm>

#include "hardware/bus/sim/axi_master.hpp"
#include "hardware/innetwork/sim/packet.hpp"
#include "hardware/innetwork/sim/topology.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

constexpr std::uint64_t counted = 0x20, repeated = 0x28, stranger = 0x30;

struct beat {
  std::uint64_t data = 0;
  unsigned keep = 0;
  bool last = false, bad = false;
  unsigned source = 0;
};

struct taken {
  frame bytes;
  unsigned to = 0, source = 0;
};

class streams {
 public:
  explicit streams(const arguments& with)
      : bench_(with), master_(bench_, with.seed), random_(with.seed) {
    model& top = bench_.top();
    top.s_axis_tvalid = 0;
    top.m_axis_tready = 0;
    bench_.reset();
  }

  void write(std::uint64_t address, std::uint64_t value) {
    master_.write(address, value);
    for (unsigned c = 0; c < 1'000 && !master_.idle(); ++c) cycle();
  }
  std::uint64_t read(std::uint64_t address) {
    master_.data_read.clear();
    master_.read(address);
    for (unsigned c = 0; c < 1'000 && master_.data_read.empty(); ++c) cycle();
    return master_.data_read.empty() ? ~std::uint64_t{0} : master_.data_read.front().data;
  }

  // `source` has one bit for each queue.
  void push(const frame& f, unsigned source, bool bad = false) {
    for (std::size_t at = 0; at < f.size(); at += 8) {
      beat b{.last = at + 8 >= f.size(), .source = source};
      b.bad = bad && b.last;
      for (std::size_t i = at; i < std::min(at + 8, f.size()); ++i) {
        b.data |= std::uint64_t{f[i]} << 8 * (i - at);
        b.keep |= 1u << (i - at);
      }
      in_.push_back(b);
    }
  }

  // Runs until `count` more frames have come out, and checks that nothing follows them.
  std::vector<taken> pull(std::size_t count) {
    for (unsigned c = 0; c < 100'000 && out_.size() < count && wrong().empty(); ++c) cycle();
    for (unsigned c = 0; c < 100 || (!in_.empty() && c < 10'000); ++c) cycle();
    return std::exchange(out_, {});
  }

  unsigned ready = 16, writes = 16, dropped = 0;
  std::string wrong() const { return wrong_.empty() ? master_.wrong() : wrong_; }

 private:
  void cycle() {
    model& top = bench_.top();
    master_.drive();
    if (!top.s_axis_tvalid && !in_.empty()) top.s_axis_tvalid = random_() % 16 < writes;
    if (top.s_axis_tvalid) {
      const beat& b = in_.front();
      top.s_axis_tdata = b.data;
      top.s_axis_tkeep = static_cast<std::uint8_t>(b.keep);
      top.s_axis_tlast = b.last;
      // The length is wrong on purpose: the store counts.
      top.s_axis_tuser = std::uint64_t{b.bad} << 32 | b.source << 16 | 0xffff;
    }
    top.m_axis_tready = random_() % 16 < ready;
    bench_.settle();
    master_.take();
    const bool went = top.s_axis_tvalid && top.s_axis_tready;
    if (went) in_.pop_front();
    dropped += top.dropped_o;
    const beat now{.data = top.m_axis_tdata,
                   .keep = top.m_axis_tkeep,
                   .last = top.m_axis_tlast != 0,
                   .source = top.m_axis_tuser};
    if (held_ && (!top.m_axis_tvalid || now.data != held_->data || now.keep != held_->keep ||
                  now.last != held_->last || now.source != held_->source))
      wrong_ = "a beat changes before it is taken";
    held_.reset();
    if (top.m_axis_tvalid && top.m_axis_tready) take(now);
    if (top.m_axis_tvalid && !top.m_axis_tready) held_ = now;
    bench_.tick();
    master_.settle_taken();
    if (went) top.s_axis_tvalid = 0;
  }

  void take(const beat& b) {
    for (unsigned i = 0; i < 8; ++i)
      if ((b.keep >> i & 1) != 0)
        current_.bytes.push_back(static_cast<std::uint8_t>(b.data >> 8 * i & 0xff));
    current_.source = b.source >> 16 & 0xff;
    current_.to = b.source >> 24;
    if (!b.last) return;
    if ((b.source & 0xffff) != current_.bytes.size()) wrong_ = "tuser has a wrong length";
    out_.push_back(std::exchange(current_, {}));
  }

  testbench bench_;
  axi_master master_;
  std::mt19937_64 random_;
  std::deque<beat> in_;
  std::vector<taken> out_;
  taken current_;
  std::optional<beat> held_;
  std::string wrong_;
};

std::string run(const arguments& with) {
  streams path(with);
  std::mt19937_64 random(with.seed);
  const topology ring_of_two = ring(2);
  const station& head = ring_of_two.stations[0];
  constexpr unsigned window = 0x2000;
  path.write(window + 0x08, 5 | ring_of_two.type << 16 | std::uint64_t{head.role} << 24);
  path.write(window + 0x10, head.rows.size());
  for (unsigned r = 0; r < head.rows.size(); ++r) {
    path.write(window + 0x40 + 8 * r, head.rows[r].need);
    path.write(window + 0x80 + 8 * r, head.rows[r].send);
  }
  path.write(window, 1);

  const auto rounds = static_cast<unsigned>(std::max<std::uint64_t>(20, with.cycles / 2'000));
  unsigned lost = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    path.ready = 4 + round % 13;
    path.writes = 4 + round % 11;
    std::vector<std::pair<frame, unsigned>> good;
    for (unsigned i = 0; i < 10; ++i) {
      frame f(14 + random() % 300 + (i == 0 ? 1'200 : 0));
      if (i == 7) f.resize(8 * STORE_DEPTH - 8);
      if (i == 8) f.resize(8 * STORE_DEPTH - 7);
      if (i == 9 && round % 4 == 0) f.resize(20 * STORE_DEPTH);
      for (std::uint8_t& b : f) b = static_cast<std::uint8_t>(random() & 0xff);
      const unsigned queue = random() % 8;
      const bool bad = i % 3 == 1, nowhere = i == 5;
      path.push(f, nowhere ? (random() % 2 != 0 ? 0 : 0x18) : 1u << queue, bad);
      if (bad || nowhere || f.size() > 8 * (STORE_DEPTH - 1))
        ++lost;
      else
        good.emplace_back(f, queue);
    }
    const std::vector<taken> forwarded = path.pull(good.size());
    if (forwarded.size() != good.size()) return "frames are lost or made up";
    for (std::size_t i = 0; i < good.size(); ++i)
      if (forwarded[i].bytes != good[i].first || forwarded[i].source != 1u << good[i].second ||
          forwarded[i].to != 1u << (good[i].second ^ 1))
        return "a forwarded frame is changed or misled";

    // One episode, each of whose packets comes damaged before it comes whole.
    barrier_packet p;
    p.source_ip = 1;
    p.destination_ip = 2;
    p.source_port = 50'000;
    p.message = message_start;
    p.episode = round;
    p.communicator = 5;
    p.topology = type_ring;
    path.push(build(p), 1u << 1, true);
    if (!path.pull(0).empty()) return "a bad call has an effect";
    path.push(build(p), 1u << 1);
    const std::vector<taken> arrival = path.pull(1);
    p.message = message_arrive;
    if (arrival.size() != 1 || arrival[0].to != 1u || arrival[0].bytes != build(p))
      return "no arrival for the next";
    p.role = 1;
    path.push(build(p), 1u << 2, true);
    if (!path.pull(0).empty()) return "a bad arrival has an effect";
    path.push(build(p), 1u << 2);
    const std::vector<taken> releases = path.pull(2);
    p.role = 0;
    p.message = message_release;
    if (releases.size() != 2 || releases[0].to != 1u || releases[0].bytes != build(p))
      return "no release for the next";
    std::swap(p.source_ip, p.destination_ip);
    std::swap(p.source_port, p.destination_port);
    if (releases[1].to != 2u || parse(releases[1].bytes, p.destination_port, true) != p)
      return "no release for the host";
    lost += 2;
    if (!path.wrong().empty()) return path.wrong();
  }
  if (path.dropped != lost) return "the number of dropped frames is wrong";
  if (path.read(counted) != 2 * rounds || path.read(repeated) != 0 || path.read(stranger) != 0)
    return "bad packets are counted";
  std::printf("{\"rounds\": %u, \"dropped\": %u}\n", rounds, lost);
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
