// SPDX-License-Identifier: Apache-2.0
// The engine behind the interface of the NetFPGA's user data path. Packets of all lengths come out
// as they went in, with the right header word, and barriers work, for any behaviour of ready; a
// sender may write once more after ready falls.

#include <algorithm>
#include <deque>

#include "hardware/flow/testbench.hpp"
#include "hardware/innetwork/sim/packet.hpp"
#include "hardware/innetwork/sim/topology.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

struct word {
  std::uint8_t ctrl = 0;
  std::uint64_t data = 0;
};

std::vector<word> words_of(const frame& f, unsigned source) {
  std::vector<word> words{
      {0xff, f.size() | std::uint64_t{source} << 16 | (f.size() + 7) / 8 << 32}};
  for (std::size_t at = 0; at < f.size(); at += 8) {
    word w;
    const std::size_t bytes = std::min<std::size_t>(8, f.size() - at);
    for (std::size_t b = 0; b < bytes; ++b) w.data |= std::uint64_t{f[at + b]} << (56 - 8 * b);
    if (at + 8 >= f.size()) w.ctrl = static_cast<std::uint8_t>(0x80 >> (bytes - 1));
    words.push_back(w);
  }
  return words;
}

struct taken {
  frame bytes;
  unsigned to = 0, source = 0;
};

class data_path {
 public:
  explicit data_path(const arguments& with) : bench_(with), random_(with.seed) {
    model& top = bench_.top();
    top.in_wr_i = 0;
    top.out_rdy_i = 0;
    top.req_valid_i = 0;
    top.req_write_i = 0;
    bench_.reset();
  }

  void write(unsigned address, std::uint64_t value) {
    write_register(bench_.top(), address, value, [this] { cycle(); });
  }

  void push(const frame& f, unsigned source) {
    for (const word& w : words_of(f, source)) in_.push_back(w);
  }

  // Runs until `count` more packets have come out, and checks that nothing follows them.
  std::vector<taken> pull(std::size_t count) {
    for (unsigned c = 0; c < 100'000 && out_.size() < count && wrong_.empty(); ++c) cycle();
    for (unsigned c = 0; c < 100; ++c) cycle();
    return std::exchange(out_, {});
  }

  // The number of cycles in 16 in which the output is free.
  unsigned ready = 16;
  unsigned writes = 16;
  const std::string& wrong() const { return wrong_; }

 private:
  void cycle() {
    model& top = bench_.top();
    // Writes follow ready by a cycle, as with a registered sender.
    top.in_wr_i = was_ready_ && !in_.empty() && random_() % 16 < writes;
    if (top.in_wr_i) {
      top.in_data_i = in_.front().data;
      top.in_ctrl_i = in_.front().ctrl;
    }
    top.out_rdy_i = random_() % 16 < ready;
    bench_.settle();
    was_ready_ = top.in_rdy_o;
    if (top.in_wr_i) in_.pop_front();
    if (top.out_wr_o && !top.out_rdy_i && wrong_.empty())
      wrong_ = "a write while the way out is not ready";
    if (top.out_wr_o) take({top.out_ctrl_o, top.out_data_o});
    bench_.tick();
  }

  void take(word w) {
    if (expect_header_) {
      if (w.ctrl != 0xff) return fail("a packet begins without a header word");
      length_ = w.data & 0xffff;
      current_.source = static_cast<unsigned>(w.data >> 16 & 0xffff);
      current_.to = static_cast<unsigned>(w.data >> 48 & 0xffff);
      if ((w.data >> 32 & 0xffff) != (length_ + 7) / 8)
        return fail("a header word with a wrong number of words");
      expect_header_ = false;
      return;
    }
    unsigned bytes = 8;
    if (w.ctrl != 0) {
      if ((w.ctrl & (w.ctrl - 1)) != 0) return fail("two bits of control at the end");
      bytes = 1;
      while ((0x80 >> (bytes - 1)) != w.ctrl) ++bytes;
    }
    for (unsigned b = 0; b < bytes; ++b)
      current_.bytes.push_back(static_cast<std::uint8_t>(w.data >> (56 - 8 * b) & 0xff));
    if (w.ctrl == 0) return;
    if (current_.bytes.size() != length_) return fail("a header word with a wrong length");
    out_.push_back(std::exchange(current_, {}));
    expect_header_ = true;
  }
  void fail(const char* what) {
    if (wrong_.empty()) wrong_ = what;
  }

  testbench bench_;
  std::mt19937_64 random_;
  std::deque<word> in_;
  std::vector<taken> out_;
  taken current_;
  std::size_t length_ = 0;
  bool expect_header_ = true, was_ready_ = false;
  std::string wrong_;
};

void configure(data_path& path, const topology& t) {
  const station& s = t.stations[0];
  const unsigned window = 0x2000;
  path.write(window + 0x08, 5 | t.type << 16 | std::uint64_t{s.role} << 24);
  path.write(window + 0x10, s.rows.size());
  for (unsigned r = 0; r < s.rows.size(); ++r) {
    path.write(window + 0x40 + 8 * r, s.rows[r].need);
    path.write(window + 0x80 + 8 * r, s.rows[r].send);
  }
  path.write(window, 1);
}

std::string run(const arguments& with) {
  data_path path(with);
  std::mt19937_64 random(with.seed);
  // This node is the head.
  const topology ring_of_two = ring(2);
  configure(path, ring_of_two);
  const unsigned rounds = static_cast<unsigned>(std::max<std::uint64_t>(20, with.cycles / 500));
  for (unsigned round = 0; round < rounds; ++round) {
    path.ready = 4 + round % 13;
    path.writes = 4 + round % 11;
    // Send other traffic of every length modulo 8 without a pause.
    std::vector<std::pair<frame, unsigned>> sent;
    for (unsigned i = 0; i < 8; ++i) {
      frame f(14 + random() % 300 + (i == 0 ? 1'200 : 0));
      for (std::uint8_t& b : f) b = static_cast<std::uint8_t>(random() & 0xff);
      sent.emplace_back(f, random() % 8);
      path.push(f, sent.back().second);
    }
    const std::vector<taken> forwarded = path.pull(sent.size());
    if (forwarded.size() != sent.size()) return "packets are lost or made up";
    for (std::size_t i = 0; i < sent.size(); ++i)
      if (forwarded[i].bytes != sent[i].first || forwarded[i].source != sent[i].second ||
          forwarded[i].to != 1u << (sent[i].second ^ 1))
        return "a forwarded packet is changed or misled";
    // One episode: call, arrival to the next, arrival from the previous, releases.
    barrier_packet p;
    p.source_ip = 1;
    p.destination_ip = 2;
    p.source_port = 50'000;
    p.message = message_start;
    p.episode = round;
    p.communicator = 5;
    p.topology = type_ring;
    path.push(build(p), 1);
    const std::vector<taken> arrival = path.pull(1);
    p.message = message_arrive;
    if (arrival.size() != 1 || arrival[0].to != 1u || arrival[0].bytes != build(p))
      return "no arrival for the next";
    p.role = 1;
    path.push(build(p), 2);
    const std::vector<taken> releases = path.pull(2);
    p.role = 0;
    p.message = message_release;
    if (releases.size() != 2 || releases[0].to != 1u || releases[0].bytes != build(p))
      return "no release for the next";
    std::swap(p.source_ip, p.destination_ip);
    std::swap(p.source_port, p.destination_port);
    if (releases[1].to != 2u || parse(releases[1].bytes, p.destination_port, true) != p)
      return "no release for the host";
    if (!path.wrong().empty()) return path.wrong();
  }
  std::printf("{\"rounds\": %u}\n", rounds);
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
