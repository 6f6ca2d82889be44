// SPDX-License-Identifier: Apache-2.0
// Mailboxes that send, receive and are idle at random, on the mesh with the detector. Each message
// must arrive once, unchanged, in order for its pair, at the core with its number. The threads of a
// group are released when all of them are idle and none of their messages is anywhere, in time,
// with the conjunction of their votes and the total of their values; until all have left, none of
// them may send. A thread is told who is in another group. Groups are drawn anew again and again.

#include <algorithm>
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
// Those of member_t: the core that is asked for, the value, its aggregator, the group; and those of
// group_reply_t.
constexpr unsigned asked_at = 0, given_at = 8, how_at = 40, group_at = 44;
constexpr unsigned stranger_at = 0, total_at = 1, of_total_at = 33;
// No episode takes longer, once all are idle.
constexpr std::uint64_t longest = 40 * (DETECTOR_HOP + 10);

// What threads give, and their total.
struct given {
  enum { none, sum, min, max, bit_and, bit_or, min_unsigned, max_unsigned, mixed };
  unsigned how = none;
  std::uint32_t value = 0;
  bool operator==(const given&) const = default;
};
given both(const given& a, const given& b) {
  if (a.how == given::none) return b;
  if (b.how == given::none) return a;
  if (a.how != b.how || a.how == given::mixed) return {given::mixed, 0};
  const auto x = static_cast<std::int32_t>(a.value), y = static_cast<std::int32_t>(b.value);
  switch (a.how) {
    case given::sum: return {a.how, a.value + b.value};
    case given::min: return {a.how, static_cast<std::uint32_t>(std::min(x, y))};
    case given::max: return {a.how, static_cast<std::uint32_t>(std::max(x, y))};
    case given::bit_and: return {a.how, a.value & b.value};
    case given::bit_or: return {a.how, a.value | b.value};
    case given::min_unsigned: return {a.how, std::min(a.value, b.value)};
    default: return {a.how, std::max(a.value, b.value)};
  }
}

struct letter {
  unsigned from = 0, to = 0;
  std::uint32_t number = 0, check = 0;
};

struct thread {
  std::deque<letter> inbox;
  letter out;
  bool parked = false, votes = false, released = false, sending = false;
  unsigned budget = 0;
  // Cycles until it leaves the episode that has ended.
  unsigned stays = 0;
  // The core to which it would send next, as programs number them.
  unsigned asked = 0;
  // The own group, that in which it goes on, and since when it is there.
  unsigned group = 0, next = 0;
  std::uint64_t since = 0;
  given gives;
};

// The threads that are idle together: those of a group or, if it is local, of a socket's part of
// it.
struct party {
  bool all_idle = true, all_vote = true, expected = false;
  given total, expected_total;
  std::uint64_t under_way = 0, still = 0;
  unsigned threads = 0;
  // How many threads will still be released in this episode.
  unsigned pending = 0;
  bool releases = false;
};

class crowd {
 public:
  crowd(testbench& bench, const arguments& with) : bench_(bench), random_(with.seed) {}

  std::string run(std::uint64_t cycles) {
    std::uint64_t episodes = 0;
    for (std::uint64_t now = 0; now < cycles && wrong_.empty(); ++now) {
      if (now % 20'000 == 0) begin();
      step();
      for (const party& p : parties_) episodes += p.releases ? 1 : 0;
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
    for (party& p : parties_) p = {};
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
    leaving_ = false;
    for (party& p : parties_) {
      p.all_idle = p.all_vote = true;
      p.total = {};
      p.threads = 0;
    }
    for (unsigned c = 0; c < CORES; ++c) {
      thread& t = threads_[c];
      t.asked = random(running_ * SOCKETS);
      set_field(top.member_i[c], asked_at, 8, t.asked);
      set_field(top.member_i[c], given_at, 32, t.gives.value);
      set_field(top.member_i[c], how_at, 4, t.gives.how);
      set_field(top.member_i[c], group_at, 3, t.group);
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
      party& p = party_of(c, t.group);
      p.all_idle = p.all_idle && idle;
      p.all_vote = p.all_vote && t.votes;
      p.total = both(p.total, t.gives);
      ++p.threads;
      // A thread that still has to leave group 0 belongs to the group in which it goes on, too.
      if (t.released && t.next != t.group) party_of(c, t.next).all_idle = false;
      // Nobody's group goes on before all have left group 0.
      if (t.released && t.group == 0) leaving_ = true;
      if (t.group != 0) parties_[0].all_idle = false;
    }
    bench_.settle();
    check_release();
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

  void check_release() {
    auto& top = bench_.top();
    for (party& p : parties_) {
      p.releases = false;
      const bool is_still = p.threads != 0 && p.all_idle && p.under_way == 0 && !leaving_;
      p.still = is_still ? p.still + 1 : 0;
      if (p.still > longest) wrong_ = "all threads of a group are idle, and nobody is released";
    }
    for (unsigned c = 0; c < CORES; ++c) {
      if (!runs(c)) continue;
      thread& t = threads_[c];
      check_asked(c, t);
      if (!get(top.release_o, c)) continue;
      party& p = party_of(c, t.group);
      if (!t.parked || !t.inbox.empty() || t.released || p.under_way != 0)
        wrong_ = "a release of core " + std::to_string(c) + " while it is not idle";
      // The first sockets are released some cycles before others.
      if (p.pending == 0) {
        if (!p.all_idle) wrong_ = "a release while somebody is not idle";
        p.expected = p.all_vote;
        p.expected_total = p.total;
        p.pending = p.threads;
        p.releases = true;
      }
      --p.pending;
      if (get(top.unanimous_o, c) != p.expected) wrong_ = "a wrong result of the vote";
      const given total{static_cast<unsigned>(field(top.group_o[c], of_total_at, 4)),
                        static_cast<std::uint32_t>(field(top.group_o[c], total_at, 32))};
      if (total != p.expected_total)
        wrong_ = "a wrong total for core " + std::to_string(c) + ", aggregator " +
                 std::to_string(p.expected_total.how) + ", group " + std::to_string(t.group);
      t.released = true;
      // Some stay for so long that others would end their next episode without them.
      t.stays = random(8) == 0 ? random(longest) : random(16);
    }
  }

  static constexpr bool is_local(unsigned group) { return group >= GROUPS - LOCAL_GROUPS; }
  party& party_of(unsigned core, unsigned group) {
    return parties_[is_local(group) ? GROUPS + group * SOCKETS + core / each : group];
  }
  bool same_party(unsigned a, unsigned b) {
    return &party_of(a, threads_[a].group) == &party_of(b, threads_[b].group);
  }
  // A thread that may send is told who is a stranger. Who has just come back to group 0 may still
  // seem to be one.
  void check_asked(unsigned c, const thread& t) {
    auto& top = bench_.top();
    if (!get(top.enable_o, c) || t.parked || t.released) return;
    const unsigned other = core_of(t.asked);
    const bool stranger = field(top.group_o[c], stranger_at, 1) != 0, same = same_party(c, other);
    const bool is_new = t.group == 0 && bench_.cycle() - threads_[other].since < 100;
    if (!same && !stranger) wrong_ = "nobody says that a thread is in another group";
    if (same && stranger && !is_new) wrong_ = "a thread of the same group seems to be in another";
  }

  // What a thread does in this cycle. One that has been released just now leaves later.
  void act(unsigned c, thread& t) {
    auto& top = bench_.top();
    if (get(top.release_o, c)) return;
    if (t.released) {
      if (t.stays > 0) {
        --t.stays;
        return;
      }
      t.released = t.parked = false;
      t.budget = random(3) == 0 ? 4 + random(12) : 0;
      if (t.next != t.group) t.since = bench_.cycle();
      t.group = t.next;
    } else if (t.parked) {
      if (t.inbox.empty() || random(4) != 0) return;
      t.parked = false;
      t.budget = random(3) == 0 ? 1 + random(2) : 0;
    } else if (!t.inbox.empty() && random(2) == 0) {
      // A thread that was idle in this cycle has returned above.
      set(top.receive_i, c, true);
      t.inbox.pop_front();
      --party_of(c, t.group).under_way;
    } else if (t.budget != 0 && get(top.enable_o, c) && !t.sending && random(3) == 0) {
      if (field(top.group_o[c], stranger_at, 1) != 0) return;
      const unsigned me = number_of(c), to = t.asked;
      t.out = {me, to, ++sent_[{me, to}], static_cast<std::uint32_t>(random_())};
      checks_[{me, to}].push_back(t.out.check);
      set(top.send_i, c, true);
      starts_[c] = true;
      --t.budget;
      ++party_of(c, t.group).under_way;
    } else if (t.budget == 0 && t.inbox.empty() && random(16) == 0) {
      t.parked = true;
      t.votes = random(8) != 0;
      t.next = t.group != 0 ? (random(3) == 0 ? 0 : t.group) : random(2) == 0 ? random(GROUPS) : 0;
      // The threads of a group mostly name the same aggregator.
      const unsigned how = static_cast<unsigned>(1 + bench_.cycle() / 2'000 % 7);
      t.gives = random(4) == 0 ? given{} : given{how, static_cast<std::uint32_t>(random_())};
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
  std::uint64_t arrived_ = 0;
  party parties_[GROUPS * (1 + SOCKETS)];
  // Whether a thread has still to leave group 0.
  bool leaving_ = false;
  std::string wrong_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_after_reset(argc, argv, [](testbench& bench, const arguments& with) {
    return crowd(bench, with).run(with.cycles);
  });
}
