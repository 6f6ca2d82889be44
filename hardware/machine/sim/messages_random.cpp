// SPDX-License-Identifier: Apache-2.0
// Mailboxes that send, receive and are idle at random, on the mesh with the detector. Each message
// must arrive once, unchanged, in order for its pair, at the core with its number. All are released
// when all are idle and no message is anywhere, in time, with the conjunction of the votes; until
// all have left, nobody may send.

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "hardware/flow/testbench.hpp"

namespace {

using namespace tutti::rtl;

constexpr unsigned each = CORES / SOCKETS;
// The fields of message_t, from the lowest bit on.
constexpr unsigned words_at = 0, length_at = 128, from_at = 131, to_at = 139;
// No episode takes longer, once all are idle.
constexpr std::uint64_t longest = 40 * (DETECTOR_HOP + 10);

struct letter {
  unsigned from = 0, to = 0;
  std::uint32_t number = 0, check = 0;
};

struct thread {
  std::deque<letter> inbox;
  letter out;
  bool parked = false, votes = false, released = false, sending = false;
  unsigned budget = 0;
};

class crowd {
 public:
  crowd(testbench& bench, const arguments& with) : bench_(bench), random_(with.seed) {}

  std::string run(std::uint64_t cycles) {
    std::uint64_t episodes = 0;
    for (std::uint64_t now = 0; now < cycles && wrong_.empty(); ++now) {
      if (now % 20'000 == 0) begin();
      step();
      episodes += releases_ ? 1 : 0;
    }
    if (!wrong_.empty()) return "cycle " + std::to_string(bench_.cycle()) + ": " + wrong_;
    if (episodes < cycles / (20 * longest)) return "only " + std::to_string(episodes) + " episodes";
    if (arrived_ < cycles / 100) return "only " + std::to_string(arrived_) + " messages";
    return {};
  }

 private:
  unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
  bool runs(unsigned core) const { return core % each < running_; }
  unsigned number_of(unsigned core) const { return core / each * running_ + core % each; }
  unsigned core_of(unsigned number) const { return number / running_ * each + number % running_; }

  // A reset, after which so many cores of each socket run.
  void begin() {
    running_ = 1 + random(each);
    for (unsigned c = 0; c < CORES; ++c) threads_[c] = {};
    sent_.clear();
    got_.clear();
    under_way_ = 0;
    still_ = 0;
    auto& top = bench_.top();
    top.each_i = static_cast<std::uint8_t>(running_);
    top.out_valid_i = top.in_ready_i = top.send_i = top.receive_i = top.idle_i = top.vote_i = 0;
    for (unsigned c = 0; c < CORES; ++c) {
      set(top.left_i, c, true);
      set(top.runs_i, c, runs(c));
    }
    bench_.reset(4);
  }

  template <class Port>
  static void set(Port& port, unsigned bit, bool value) {
    port = static_cast<Port>(value ? port | 1u << bit : port & ~(1u << bit));
  }
  template <class Port>
  static bool get(const Port& port, unsigned bit) {
    return (port >> bit & 1u) != 0;
  }

  void step() {
    auto& top = bench_.top();
    bool all_idle = true, all_vote = true;
    for (unsigned c = 0; c < CORES; ++c) {
      thread& t = threads_[c];
      const bool idle = t.parked && t.inbox.empty() && !t.released;
      set(top.idle_i, c, runs(c) && idle);
      set(top.vote_i, c, runs(c) && t.votes);
      set(top.left_i, c, !runs(c) || !t.released);
      set(top.send_i, c, false);
      set(top.receive_i, c, false);
      set(top.out_valid_i, c, t.sending);
      set(top.in_ready_i, c, runs(c) && t.inbox.size() < 4 && random(4) != 0);
      if (t.sending) write(top.out_i[c], t.out);
      if (!runs(c)) continue;
      all_idle = all_idle && idle;
      all_vote = all_vote && t.votes;
    }
    bench_.settle();
    check_release(all_idle, all_vote);
    for (unsigned c = 0; c < CORES; ++c)
      if (runs(c)) act(c, threads_[c]);
    bench_.settle();
    for (unsigned c = 0; c < CORES; ++c) {
      thread& t = threads_[c];
      if (t.sending && get(top.out_valid_i, c) && get(top.out_ready_o, c)) t.sending = false;
      if (!get(top.in_valid_o, c)) continue;
      if (!runs(c)) wrong_ = "a message for a core that does not run";
      if (runs(c) && get(top.in_ready_i, c)) take(c, top.in_o[c]);
    }
    for (unsigned c = 0; c < CORES; ++c)
      if (starts_[c]) threads_[c].sending = true, starts_[c] = false;
    if (top.error_o != 0) wrong_ = "the detector reports misuse";
    bench_.tick();
  }

  void check_release(bool all_idle, bool all_vote) {
    auto& top = bench_.top();
    releases_ = false;
    still_ = all_idle && under_way_ == 0 ? still_ + 1 : 0;
    if (still_ > longest) wrong_ = "all are idle, and nobody is released";
    for (unsigned c = 0; c < CORES; ++c) {
      if (!runs(c) || !get(top.release_o, c)) continue;
      thread& t = threads_[c];
      // The first sockets may have been released some cycles before.
      if (!t.parked || !t.inbox.empty() || t.released || under_way_ != 0)
        wrong_ = "a release of core " + std::to_string(c) + " while somebody is not idle";
      if (all_idle) expected_ = all_vote;
      if (get(top.unanimous_o, c) != expected_) wrong_ = "a wrong result of the vote";
      t.released = true;
      releases_ = releases_ || all_idle;
    }
  }

  // What a thread does in this cycle. One that has been released just now leaves later.
  void act(unsigned c, thread& t) {
    auto& top = bench_.top();
    if (get(top.release_o, c)) return;
    if (t.released) {
      if (random(8) != 0) return;
      t.released = t.parked = false;
      t.budget = random(6);
    } else if (t.parked) {
      if (t.inbox.empty() || random(4) != 0) return;
      t.parked = false;
      t.budget = random(3) == 0 ? 1 + random(2) : 0;
    } else if (!t.inbox.empty() && random(2) == 0) {
      // A thread that was idle in this cycle has returned above.
      set(top.receive_i, c, true);
      t.inbox.pop_front();
      --under_way_;
    } else if (t.budget != 0 && get(top.enable_o, c) && !t.sending && random(3) == 0) {
      const unsigned me = number_of(c), to = random(running_ * SOCKETS);
      t.out = {me, to, ++sent_[{me, to}], static_cast<std::uint32_t>(random_())};
      checks_[{me, to}].push_back(t.out.check);
      set(top.send_i, c, true);
      starts_[c] = true;
      --t.budget;
      ++under_way_;
    } else if (t.budget == 0 && t.inbox.empty() && random(16) == 0) {
      t.parked = true;
      t.votes = random(8) != 0;
    }
  }

  template <class Port>
  static void write(Port& port, const letter& l) {
    set_field(port, to_at, 8, l.to);
    set_field(port, from_at, 8, l.from);
    set_field(port, length_at, 3, l.number % 5);
    for (unsigned w = 0; w < 4; ++w) set_field(port, words_at + 32 * w, 32, l.check + w * l.number);
  }
  template <class Port>
  void take(unsigned core, const Port& port) {
    const auto from = static_cast<unsigned>(field(port, from_at, 8));
    const auto to = static_cast<unsigned>(field(port, to_at, 8));
    if (to >= running_ * SOCKETS || core_of(to) != core) {
      wrong_ = "a message at the wrong core";
      return;
    }
    const std::uint32_t number = ++got_[{from, to}];
    auto& checks = checks_[{from, to}];
    if (number > sent_[{from, to}]) {
      wrong_ = "a message that nobody has sent";
      return;
    }
    const std::uint32_t check = checks[checks.size() - (sent_[{from, to}] - number) - 1];
    bool same = field(port, length_at, 3) == number % 5;
    for (unsigned w = 0; w < 4; ++w)
      same = same && field(port, words_at + 32 * w, 32) == std::uint32_t(check + w * number);
    if (!same) wrong_ = "a message that is changed or out of order";
    threads_[core].inbox.push_back({from, to, number, check});
    ++arrived_;
  }

  testbench& bench_;
  std::mt19937_64 random_;
  unsigned running_ = 1;
  thread threads_[CORES];
  bool starts_[CORES] = {};
  std::map<std::pair<unsigned, unsigned>, std::uint32_t> sent_, got_;
  std::map<std::pair<unsigned, unsigned>, std::vector<std::uint32_t>> checks_;
  std::uint64_t under_way_ = 0, still_ = 0, arrived_ = 0;
  bool releases_ = false, expected_ = false;
  std::string wrong_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_after_reset(argc, argv, [](testbench& bench, const arguments& with) {
    return crowd(bench, with).run(with.cycles);
  });
}
