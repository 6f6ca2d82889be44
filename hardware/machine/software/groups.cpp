// SPDX-License-Identifier: Apache-2.0
// Programs whose threads are idle in groups and give values, and programs that misuse both.
// Parameter `program` chooses one (names.hpp: group_program); sim/group_tests.cpp knows what each
// must do.
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
constexpr std::uint32_t mixed(std::uint32_t x) noexcept {
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

// What a thread publishes of its episode, with plain stores, before it is idle. Nobody writes that
// of an episode again before all have read it: consecutive episodes and rounds have different ones,
// and all are idle once more in between.
struct alignas(cache_line) account {
  std::uint32_t episode, sent, received, vote, how, given;
};
alignas(cache_line) account accounts[4][MOST_CORES];

// ---- random groups, messages, votes and values ----

// In each round all threads divide into groups, which nobody tells them but the seed. Each group
// has episodes of its own, as many as it likes, and each message lets its receiver send some more.
// Then all come back. A thread gives another value each time it is idle, in some episodes none.
class random_groups {
 public:
  explicit random_groups(std::uint32_t me) noexcept
      : me_(me), cores_(CORES), next_(PARAMETER(PARAM_SEED) * 977u + me) {}

  void run() noexcept {
    const std::uint32_t rounds = PARAMETER(PARAM_EPISODES);
    start_gate.pass(cores_);
    for (round_ = 1; round_ <= rounds; ++round_) {
      // In group 0, to which all belong.
      begin_episode(0, 0);
      go_on_in(group_of(me_));
      end_episode();
      if (group_of(me_) == 0) continue;
      const std::uint32_t episodes = 1 + hash(group_of(me_), 77) % 4;
      for (std::uint32_t i = 1; i <= episodes; ++i) {
        begin_episode(group_of(me_), i);
        if (i == episodes) go_on_in(0);
        for (std::uint32_t k = next_() % 4; k > 0; --k) send(3);
        end_episode();
      }
    }
    value(all_sent_);
    value(refuted_);
    value(totals_);
  }

 private:
  std::uint32_t hash(std::uint32_t a, std::uint32_t b) const noexcept {
    return mixed(PARAMETER(PARAM_SEED) * 65537u + mixed(round_ * 4099u + mixed(a * 257u + b)));
  }
  std::uint32_t group_of(std::uint32_t core) const noexcept {
    return hash(core, 1) % message_groups;
  }
  std::uint32_t socket_of(std::uint32_t core) const noexcept { return core / (CORES / SOCKETS); }
  bool with_me(std::uint32_t core) const noexcept {
    return group_ == 0 || (group_of(core) == group_ &&
                           (group_ < local_group || socket_of(core) == socket_of(me_)));
  }
  void begin_episode(std::uint32_t group, std::uint32_t number) noexcept {
    group_ = group;
    episode_ = number;
    account& now = of(me_);
    now.episode = round_ << 8 | episode_;
    now.sent = now.received = 0;
  }
  void go_on_in(std::uint32_t next) noexcept {
    if (message_next_group(next) != group_) wrong(message_fault::group, group_);
  }

  void send(std::uint32_t generations) noexcept {
    std::uint32_t to = next_() % cores_;
    while (!with_me(to)) to = to + 1 == cores_ ? 0 : to + 1;
    ++of(me_).sent;
    ++all_sent_;
    const std::uint32_t words[] = {round_ << 16 | group_ << 8 | generations, episode_,
                                   mixed(me_ << 16 | to)};
    box_.send(to, words, [this](const letter& m) { take(m); });
  }
  void take(const letter& m) noexcept {
    ++of(me_).received;
    if (m.length() != 3 || m[2] != mixed(m.from() << 16 | me_) || !with_me(m.from()))
      wrong(message_fault::content, m.from());
    // A message of another episode or group: this thread or its sender was released too early.
    if (m[0] >> 8 != (round_ << 8 | group_) || m[1] != episode_)
      wrong(message_fault::episode, m[1]);
    if ((m[0] & 0xff) != 0) waiting_ += next_() % 3, generations_ = (m[0] & 0xff) - 1;
  }

  account& of(std::uint32_t core) noexcept {
    return accounts[(round_ & 1) * 2 + (episode_ & 1)][core];
  }
  void end_episode() noexcept {
    const auto how = static_cast<aggregator>(1 + hash(group_, episode_) % 7);
    for (;;) {
      for (;;) {
        box_.receive_all([this](const letter& m) { take(m); });
        if (waiting_ == 0) break;
        --waiting_;
        delay(next_() % 64);
        send(generations_);
      }
      account& now = of(me_);
      now.vote = next_() % (2 * cores_) != 0;
      now.how = static_cast<std::uint32_t>(next_() % 4 == 0 ? aggregator::none : how);
      now.given = mixed(next_());
      const ended end = box_.idle(now.vote != 0, static_cast<aggregator>(now.how), now.given);
      if (end == ended::no) {
        ++refuted_;
        continue;
      }
      return check(end, how);
    }
  }
  void check(ended end, aggregator how) noexcept {
    std::uint32_t sent = 0, received = 0, all = 1, total = 0;
    bool any = false;
    for (std::uint32_t core = 0; core < cores_; ++core) {
      if (!with_me(core)) continue;
      const volatile account& its = of(core);
      if (its.episode != (round_ << 8 | episode_)) wrong(message_fault::early, core);
      sent += its.sent;
      received += its.received;
      all &= its.vote;
      if (its.how == 0) continue;
      total = any ? combined(how, total, its.given) : its.given;
      any = true;
    }
    if (sent != received) wrong(message_fault::sums, sent - received);
    if ((end == ended::unanimously) != (all == 1)) wrong(message_fault::vote);
    if (!any) return;
    ++totals_;
    if (mailbox::total() != total) wrong(message_fault::total, static_cast<std::uint32_t>(how));
  }

  mailbox box_;
  const std::uint32_t me_, cores_;
  random_numbers next_;
  std::uint32_t round_ = 0, episode_ = 0, group_ = 0, waiting_ = 0, generations_ = 0;
  std::uint32_t all_sent_ = 0, refuted_ = 0, totals_ = 0;
};

// ---- a group does not wait for another ----

// The even cores have a thread that is late, the odd ones have episodes meanwhile. Traces when this
// thread has left its group.
void apart(std::uint32_t me) {
  mailbox box;
  start_gate.pass(CORES);
  const std::uint32_t group = 1 + me % 2;
  (void)message_next_group(group);
  if (mailbox::idle(true) != ended::unanimously) wrong(message_fault::vote);
  const std::uint32_t start = cycles();
  if (me == 0) delay(PARAMETER(PARAM_DELAY));
  for (std::uint32_t i = 0; i < PARAMETER(PARAM_EPISODES); ++i)
    if (mailbox::idle(me != 0) != (group == 1 ? ended::yes : ended::unanimously))
      wrong(message_fault::vote);
  value(cycles() - start);
  (void)message_next_group(0);
  (void)mailbox::idle(true);
  if (mailbox::idle(true) != ended::unanimously) wrong(message_fault::vote);
}

// ---- measurements ----

// A tree in software, by messages, over the cores from `first` on: values go up, and their sum
// comes down. It computes what a wave with values does, and finds no end of messages.
class value_tree {
 public:
  value_tree(std::uint32_t first, std::uint32_t size, std::uint32_t fan_out) noexcept
      : me_(THIS_CORE - first), below_(me_ * fan_out + 1), first_(first) {
    parent_ = me_ == 0 ? 0 : (me_ - 1) / fan_out;
    for (std::uint32_t i = 0; i < fan_out; ++i) children_ += below_ + i < size ? 1 : 0;
  }
  std::uint32_t sum(std::uint32_t mine) noexcept {
    for (std::uint32_t i = 0; i < children_; ++i) mine += get();
    if (me_ != 0) {
      put(parent_, mine);
      mine = get();
    }
    for (std::uint32_t i = 0; i < children_; ++i) put(below_ + i, mine);
    return mine;
  }

 private:
  void put(std::uint32_t to, std::uint32_t word) const noexcept {
    message_slot(0)[0] = word;
    while (message_send(first_ + to, 0, 1) == 0) (void)message_wait(MESSAGE_CAN_SEND);
  }
  static std::uint32_t get() noexcept {
    (void)message_wait(MESSAGE_CAN_RECEIVE);
    const letter got(message_receive());
    const std::uint32_t word = got[0];
    message_alloc(got.slot());
    return word;
  }
  std::uint32_t me_, below_, first_, parent_ = 0, children_ = 0;
};

// All give a value and get the sum, again and again: the cycles of all episodes.
template <class Episode>
void measure(std::uint32_t size, Episode episode) {
  const std::uint32_t rounds = PARAMETER(PARAM_EPISODES);
  for (std::uint32_t i = 0; i < 4; ++i) (void)episode(1);
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 1; i <= rounds; ++i)
    if (episode(i) != size * i) wrong(message_fault::total);
  value(cycles() - start);
}
std::uint32_t total_of_wave(std::uint32_t mine) noexcept {
  (void)mailbox::idle(true, aggregator::sum, mine);
  return mailbox::total();
}

void measure_totals(group_program which) {
  mailbox box;
  value_tree tree(0, CORES, PARAMETER(PARAM_A));
  start_gate.pass(CORES);
  switch (which) {
    case group_program::total_of_hardware: return measure(CORES, total_of_wave);
    case group_program::total_of_tree:
      return measure(CORES, [&](std::uint32_t mine) { return tree.sum(mine); });
    default:
      // The wave ends without a value; then the tree computes it.
      return measure(CORES, [&](std::uint32_t mine) {
        (void)mailbox::idle(true);
        return tree.sum(mine);
      });
  }
}

// Groups of so many neighbours (parameter B) in group A, or, if A is 0, all in one. Each has its
// own episodes, all groups at the same time.
void measure_groups(group_program which, std::uint32_t me) {
  const std::uint32_t size = PARAMETER(PARAM_B), first = me / size * size;
  mailbox box;
  value_tree tree(first, size, 2);
  start_gate.pass(CORES);
  if (which == group_program::group_of_tree)
    return measure(size, [&](std::uint32_t mine) { return tree.sum(mine); });
  // Local groups are those of sockets; the others have a number each.
  const std::uint32_t a = PARAMETER(PARAM_A);
  (void)message_next_group(a == local_group ? a : a + first / size);
  (void)mailbox::idle(true);
  measure(size, total_of_wave);
}

// ---- misuse: each returns only if the machine has let it pass ----

void misuse(group_program which, std::uint32_t me) {
  const auto idle_with = [](std::uint32_t group, aggregator how) {
    (void)message_next_group(group);
    (void)mailbox::idle(true, how, 5);
  };
  switch (which) {
    case group_program::no_total: idle_with(0, aggregator::none); break;
    case group_program::mixed_total:
      idle_with(0, me == 0 ? aggregator::min : aggregator::max);
      break;
    case group_program::from_group_to_group: idle_with(1, aggregator::sum); break;
    case group_program::to_another_group: idle_with(me == 0 ? 1 : 2, aggregator::sum); break;
    case group_program::to_another_socket: idle_with(local_group, aggregator::sum); break;
    default: break;
  }
  if (me != 0) return;
  switch (which) {
    case group_program::no_total:
    case group_program::mixed_total: (void)mailbox::total(); break;
    case group_program::no_group: (void)message_next_group(message_groups); break;
    case group_program::from_group_to_group: (void)message_next_group(2); break;
    case group_program::to_another_group:
    case group_program::to_another_socket: (void)message_send(CORES - 1, 0, 1); break;
    default: break;
  }
  wrong(message_fault::passed);
}

void run(std::uint32_t me) {
  const auto which = static_cast<group_program>(PARAMETER(PARAM_PROGRAM));
  switch (which) {
    case group_program::random: return random_groups(me).run();
    case group_program::apart: return apart(me);
    case group_program::total_of_hardware:
    case group_program::total_of_tree:
    case group_program::total_beside: return measure_totals(which);
    case group_program::group_of_hardware:
    case group_program::group_of_tree: return measure_groups(which, me);
    default: return misuse(which, me);
  }
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  tutti::rtl::run(core);
  return 0;
}
