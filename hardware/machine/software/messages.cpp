// SPDX-License-Identifier: Apache-2.0
// Programs that send messages and are idle together, and programs that misuse the mailbox.
// Parameter `program` chooses one (names.hpp: message_program); sim/message_tests.cpp knows what
// each must do.
#include "hardware/machine/software/messages.hpp"

#include "hardware/machine/software/names.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;

void value(std::uint32_t v) { trace(TRACE_VALUE, v); }
void wrong(message_fault what, std::uint32_t more = 0) {
  trace(TRACE_WRONG, static_cast<std::uint32_t>(what) << 16 | (more & 0xffff));
}

// What a thread publishes of its episode, with plain stores, before it is idle.
struct alignas(cache_line) account {
  std::uint32_t sent, received, vote, episode;
};
alignas(cache_line) account accounts[MOST_CORES];
alignas(cache_line) volatile std::uint32_t late_flag;

// ---- random messages ----

// Each thread begins an episode with some messages; each message lets its receiver send some more,
// so that nobody can know how many will come. The words: the episode, how many generations may
// follow, the number for this pair of threads, and a check.
class random_traffic {
 public:
  explicit random_traffic(std::uint32_t me) noexcept
      : me_(me), cores_(CORES), next_(PARAMETER(PARAM_SEED) * 977u + me) {}

  void run() noexcept {
    const std::uint32_t episodes = PARAMETER(PARAM_EPISODES), most = PARAMETER(PARAM_DELAY);
    start_gate.pass(cores_);
    for (episode_ = 1; episode_ <= episodes; ++episode_) {
      account& mine = accounts[me_];
      mine.sent = mine.received = 0;
      mine.episode = episode_;
      // Nobody reads the accounts of the last episode any more.
      if (PARAMETER(PARAM_A) != 0) start_gate.pass(cores_);
      for (std::uint32_t i = next_() % (most + 1); i > 0; --i) send(3);
      episode();
    }
    value(all_sent_);
    value(refuted_);
  }

 private:
  void send(std::uint32_t generations) noexcept {
    const std::uint32_t to = next_() % cores_;
    const std::uint32_t number = ++to_[to];
    // Before the message can be there: whoever is released early finds the sums different.
    ++accounts[me_].sent;
    ++all_sent_;
    const std::uint32_t words[] = {episode_, generations, number, check_of(me_, to, number)};
    box_.send(to, words, [this](const letter& m) { take(m); });
  }
  static std::uint32_t check_of(std::uint32_t from, std::uint32_t to, std::uint32_t n) noexcept {
    return (from << 24 ^ to << 16 ^ n) * 2654435761u;
  }
  void take(const letter& m) noexcept {
    ++accounts[me_].received;
    if (m.length() != 4 || m[3] != check_of(m.from(), me_, m[2])) wrong(message_fault::content);
    if (m[2] != ++from_[m.from()]) wrong(message_fault::order, m.from());
    // A message of another episode: this thread or its sender was released too early.
    if (m[0] != episode_) wrong(message_fault::episode, m[0]);
    if (m[1] != 0) waiting_ += next_() % 3, generations_ = m[1] - 1;
  }

  void episode() noexcept {
    for (;;) {
      for (;;) {
        box_.receive_all([this](const letter& m) { take(m); });
        if (waiting_ == 0) break;
        --waiting_;
        delay(next_() % 64);
        send(generations_);
      }
      const bool vote = next_() % (2 * cores_) != 0;
      accounts[me_].vote = vote ? 1 : 0;
      const ended now = mailbox::idle(vote);
      if (now == ended::no) {
        ++refuted_;
        continue;
      }
      if (PARAMETER(PARAM_A) != 0) check(now);
      return;
    }
  }
  // All are released, and begin no episode before all have read this.
  void check(ended now) noexcept {
    std::uint32_t sent = 0, received = 0, all = 1;
    for (std::uint32_t core = 0; core < cores_; ++core) {
      const volatile account& of = accounts[core];
      sent += of.sent;
      received += of.received;
      all &= of.vote;
      if (of.episode != episode_) wrong(message_fault::early, core);
    }
    if (sent != received) wrong(message_fault::sums, sent - received);
    if ((now == ended::unanimously) != (all == 1)) wrong(message_fault::vote);
    start_gate.pass(cores_);
  }

  mailbox box_;
  const std::uint32_t me_, cores_;
  random_numbers next_;
  std::uint32_t episode_ = 0, waiting_ = 0, generations_ = 0, all_sent_ = 0, refuted_ = 0;
  std::uint32_t to_[MOST_CORES]{}, from_[MOST_CORES]{};
};

// ---- who is late, and what stands still ----

// The last core becomes idle long after the others: nobody may return before.
void wait_for_the_late(std::uint32_t me) {
  mailbox box;
  start_gate.pass(CORES);
  if (me + 1 == CORES) {
    delay(PARAMETER(PARAM_DELAY));
    late_flag = 1;
  }
  const ended now = mailbox::idle(true);
  if (late_flag != 1) wrong(message_fault::early, me);
  if (now != ended::unanimously) wrong(message_fault::vote, me);
}

// Core 0 sends as much as it can to the last core, which gives no slot meanwhile; then the last one
// takes everything, in order. Traces how many messages fitted.
void flood(std::uint32_t me) {
  const std::uint32_t n = CORES, last = n - 1;
  constexpr std::uint32_t count = 200;
  start_gate.pass(n);
  if (me == 0) {
    std::uint32_t sent = 0;
    for (std::uint32_t tries = 0; tries < 3000; ++tries) {
      message_slot(0)[0] = sent;
      sent += message_send(last, 0, 1);
    }
    value(sent);
    late_flag = 1;
    while (sent < count) {
      message_slot(0)[0] = sent;
      message_wait(MESSAGE_CAN_SEND);
      sent += message_send(last, 0, 1);
    }
  } else if (me == last) {
    while (late_flag == 0) {
    }
    mailbox box;
    std::uint32_t next = 0;
    while (next < count) {
      message_wait(MESSAGE_CAN_RECEIVE);
      box.receive_all([&](const letter& m) {
        if (m[0] != next++ || m.from() != 0) wrong(message_fault::order, next);
      });
    }
  }
  if (mailbox::idle(me != 0) != ended::yes) wrong(message_fault::vote, me);
}

// A message that nobody can take: the machine must not find an end.
void stuck(std::uint32_t me) {
  if (me == 0) message_send(CORES - 1, 0, 1);
  start_gate.pass(CORES);
  mailbox::idle(true);
  wrong(message_fault::early, me);
}

// A thread that is interrupted while it is idle stays idle, and misses nothing.
void interrupted(std::uint32_t me) {
  mailbox box;
  start_gate.pass(CORES);
  const std::uint32_t rounds = PARAMETER(PARAM_EPISODES);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    if (me == 0) {
      delay(PARAMETER(PARAM_DELAY));
      const std::uint32_t words[] = {i};
      box.send(CORES - 1, words, [](const letter&) { wrong(message_fault::content); });
    }
    std::uint32_t got = 0;
    for (;;) {
      box.receive_all([&](const letter& m) { got += m[0] == i; });
      if (const ended now = mailbox::idle(true); now != ended::no) break;
    }
    if (got != (me == CORES - 1 ? 1u : 0u)) wrong(message_fault::sums, got);
  }
  value(timer_ticks());
}

// ---- misuse: each returns only if the machine has let it pass ----

void misuse(message_program which) {
  switch (which) {
    case message_program::to_nobody: (void)message_send(CORES, 0, 1); break;
    case message_program::too_long: (void)message_send(0, 0, MESSAGE_WORDS + 1); break;
    case message_program::no_slot: message_alloc(MESSAGE_SLOTS); break;
    case message_program::send_without_slot: (void)message_send(0, MESSAGE_SLOTS, 1); break;
    case message_program::given_twice:
      message_alloc(3);
      message_alloc(3);
      break;
    case message_program::send_a_given_slot:
      message_alloc(3);
      (void)message_send(0, 3, 1);
      break;
    case message_program::store_to_a_given_slot:
      message_alloc(3);
      message_slot(3)[0] = 1;
      break;
    case message_program::receive_nothing: (void)message_receive(); break;
    case message_program::store_behind_the_slots: message_slot(MESSAGE_SLOTS)[0] = 1; break;
    case message_program::store_behind_the_words: message_slot(0)[MESSAGE_WORDS] = 1; break;
    case message_program::byte_of_a_slot: *(volatile std::uint8_t*)message_slot(0) = 1; break;
    case message_program::unknown: asm volatile(".insn r 0x0b, 7, 0, x0, x0, x0"); break;
    default: break;
  }
}

// ---- measurements ----

// A message goes forth and back between core 0 and another one; the cycles of all round trips.
void ping_pong(std::uint32_t me) {
  const std::uint32_t other = PARAMETER(PARAM_A), rounds = PARAMETER(PARAM_EPISODES);
  mailbox box;
  start_gate.pass(CORES);
  const auto get = [&] {
    message_wait(MESSAGE_CAN_RECEIVE);
    const letter got(message_receive());
    message_alloc(got.slot());
  };
  if (me == 0) {
    const std::uint32_t start = cycles();
    for (std::uint32_t i = 0; i < rounds; ++i) {
      (void)message_send(other, 0, 1);
      get();
    }
    value(cycles() - start);
  } else if (me == other) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      get();
      (void)message_send(0, 0, 1);
    }
  }
}

// The same of all threads at once: those of the first half each with one of the second.
void ping_pong_in_pairs(std::uint32_t me) {
  const std::uint32_t half = CORES / 2, rounds = PARAMETER(PARAM_EPISODES);
  mailbox box;
  start_gate.pass(CORES);
  const auto get = [&] {
    message_wait(MESSAGE_CAN_RECEIVE);
    const letter got(message_receive());
    message_alloc(got.slot());
  };
  const auto put = [](std::uint32_t to) {
    while (message_send(to, 0, 1) == 0) (void)message_wait(MESSAGE_CAN_SEND);
  };
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < rounds; ++i) {
    if (me < half) {
      put(me + half);
      get();
    } else {
      get();
      put(me - half);
    }
  }
  value(cycles() - start);
}

// All threads are idle again and again: the cycles of all episodes.
void episodes_of_hardware() {
  const std::uint32_t rounds = PARAMETER(PARAM_EPISODES);
  mailbox box;
  start_gate.pass(CORES);
  for (std::uint32_t i = 0; i < 4; ++i) (void)mailbox::idle(true);
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < rounds; ++i)
    if (mailbox::idle(true) != ended::unanimously) wrong(message_fault::vote);
  value(cycles() - start);
}

// The clock tree of Naylor et al. 2020 in software: a token goes from the root to all threads, and
// the acknowledgements come back. Parameter A is the fan-out.
class clock_tree {
 public:
  clock_tree(std::uint32_t me, std::uint32_t fan_out) noexcept
      : me_(me), first_(me * fan_out + 1), children_(0) {
    parent_ = me == 0 ? 0 : (me - 1) / fan_out;
    for (std::uint32_t i = 0; i < fan_out; ++i) children_ += first_ + i < CORES ? 1 : 0;
  }
  // The round trips, at the root; a part of one, elsewhere.
  void round() noexcept {
    if (me_ != 0) get(1);
    for (std::uint32_t i = 0; i < children_; ++i) put(first_ + i);
    if (children_ != 0) get(children_);
    if (me_ != 0) put(parent_);
  }

 private:
  static void put(std::uint32_t core) noexcept {
    while (message_send(core, 0, 1) == 0) (void)message_wait(MESSAGE_CAN_SEND);
  }
  // Takes so many messages; no more can have come.
  static void get(std::uint32_t count) noexcept {
    for (; count > 0; --count) {
      (void)message_wait(MESSAGE_CAN_RECEIVE);
      const letter got(message_receive());
      message_alloc(got.slot());
    }
  }
  std::uint32_t me_, first_, parent_, children_;
};

void episodes_of_tree(std::uint32_t me) {
  const std::uint32_t rounds = PARAMETER(PARAM_EPISODES);
  mailbox box;
  clock_tree tree(me, PARAMETER(PARAM_A));
  start_gate.pass(CORES);
  for (std::uint32_t i = 0; i < 4; ++i) tree.round();
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < rounds; ++i) tree.round();
  value(cycles() - start);
}

void run(std::uint32_t me) {
  const auto which = static_cast<message_program>(PARAMETER(PARAM_PROGRAM));
  switch (which) {
    case message_program::random: return random_traffic(me).run();
    case message_program::late: return wait_for_the_late(me);
    case message_program::flood: return flood(me);
    case message_program::stuck: return stuck(me);
    case message_program::interrupted: return interrupted(me);
    case message_program::ping_pong: return ping_pong(me);
    case message_program::pairs: return ping_pong_in_pairs(me);
    case message_program::idle_episodes: return episodes_of_hardware();
    case message_program::tree_episodes: return episodes_of_tree(me);
    default: break;
  }
  if (me != 0) return;
  misuse(which);
  wrong(message_fault::passed);
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  tutti::rtl::run(core);
  return 0;
}
