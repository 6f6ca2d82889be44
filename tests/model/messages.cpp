// SPDX-License-Identifier: Apache-2.0
// Checks rings and idle(): messages publish plain data, no participant is released before all is
// delivered or takes a message of the next episode, and no sleeper is forgotten. The rings have two
// laps per execution, so that room is given back as well.
#define TUTTI_CHECKS 0

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/model/checked.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/subjects.hpp"
#include "tests/model/values.hpp"
#include "tutti/comm/active_messages.hpp"
#include "tutti/comm/endpoint.hpp"
#include "tutti/message/ring_reader.hpp"
#include "tutti/message/ring_table.hpp"
#include "tutti/message/ring_writer.hpp"
#include "tutti/termination/list.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::model {
namespace {

using spinning = spin_wait<wake_word_memory<checked>>;
using parking = park_wait<wake_word_memory<checked>, 1>;
// Sleeps without a pause before. In the model a thread that has paused never sees a value again
// that it saw before the pause.
using parking_at_once = park_wait<wake_word_memory<checked>, 0>;
using adapting = adaptive_wait<wake_word_memory<checked>>;

// A writer and a reader that only poll.
class piping : public scenario {
 public:
  piping() : rings_(2, 1), writer_(rings_.from(0)[1], 8), reader_(rings_.to(1)[0]) {}

  void thread(rank_t rank) override { rank == 0 ? write() : read(); }

 private:
  static constexpr std::uint64_t count = 20;

  void write() {
    for (std::uint64_t k = 1; k <= count; ++k) {
      while (!writer_.has_room()) checked::relax();
      writer_.append_to_new_run(&k, sizeof k);
      if (k % 2 == 0) writer_.flush();
    }
  }
  void read() {
    for (std::uint64_t k = 1; k <= count;) {
      if (!reader_.has_message() && !reader_.refill()) {
        checked::relax();
        continue;
      }
      const received message = reader_.take(0);
      RL_ASSERT(message.as<std::uint64_t>() == k);
      reader_.release_message(message.index);
      ++k;
    }
  }

  ring_table<checked> rings_;
  ring_writer<checked> writer_;
  ring_reader<checked> reader_;
};

// Participants with endpoints, each of which does what Behaviour says: behaviour(endpoint, n).
template <class Behaviour, class Detector, class Wait>
class idling : public scenario {
  using all_wait_points = wait_points<checked, Wait>;
  using endpoint_type = basic_endpoint<checked, Wait, Detector, unsigned>;

 public:
  explicit idling(rank_t n)
      : n_(n), rings_(n, 1), wait_points_(n), all_(wait_points_, [n] { return Detector(n); }) {
    for (rank_t rank = 0; rank < n; ++rank)
      ends_.push_back(std::make_unique<endpoint_type>(rank, all_, rings_.from(rank),
                                                      rings_.to(rank), 8, false));
  }

  void thread(rank_t rank) override { behaviour_(*ends_[rank], n_); }

 private:
  rank_t n_;
  ring_table<checked> rings_;
  all_wait_points wait_points_;
  typename endpoint_type::shared all_;
  std::vector<std::unique_ptr<endpoint_type>> ends_;
  Behaviour behaviour_;
};

// Two episodes. In each the last rank sends to the first, which answers to the rank before the
// last, if there is one, or to the sender. Each message refers to plain data. Every rank checks
// that all messages were delivered, that each belongs to its episode, and the combined value.
class conversing {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t n) {
    const rank_t rank = me.rank();
    for (unsigned episode = 0; episode < 2; ++episode) {
      if (rank == n - 1) send(me, 0, episode);
      wrote_[episode][rank] = episode + 1;
      for (;;) {
        const auto got =
            me.idle(episode == 0 || rank == 0, value_of(episode, rank), combine_in_order);
        if (got.result == idle_result::message) {
          receive(me, n, episode);
          continue;
        }
        RL_ASSERT(got.result == (episode == 0 ? idle_result::unanimous : idle_result::idle));
        RL_ASSERT(got.value == expected(episode, n));
        break;
      }
      RL_ASSERT(delivered_[episode] == 2);
      for (rank_t other = 0; other < n; ++other) RL_ASSERT(wrote_[episode][other] == episode + 1);
    }
  }

 private:
  template <class Endpoint>
  void send(Endpoint& me, rank_t to, unsigned episode) {
    said_[episode][me.rank()] = episode + 7;
    me.send(to, std::uint64_t{episode});
  }
  template <class Endpoint>
  void receive(Endpoint& me, rank_t n, unsigned episode) {
    RL_ASSERT(me.can_recv());
    const received message = me.recv();
    RL_ASSERT(message.as<std::uint64_t>() == episode);
    RL_ASSERT(said_[episode][message.source] == episode + 7);
    delivered_[episode] = delivered_[episode] + 1;
    me.release(message);
    if (me.rank() == 0) send(me, n > 2 ? n - 2 : n - 1, episode);
  }

  checked_plain<unsigned> wrote_[2][most_threads];
  checked_plain<unsigned> said_[2][most_threads];
  checked_plain<unsigned> delivered_[2] = {0u, 0u};
};

// Every participant sends more large messages round the ring of participants than there is room
// for, and waits for room. Room or a message wakes those that sleep, and plain data go along. If
// `with_deadlines`, the first asks at intervals.
template <bool is_one_way, bool with_deadlines = false>
class pressing {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t n) {
    const rank_t rank = me.rank();
    unsigned next = 0;
    const auto take = [&](const received& message) {
      const auto number = message.as<parcel>().words[0];
      RL_ASSERT(number == next && message.source == (rank + n - 1) % n);
      RL_ASSERT(said_[message.source][next] == next + 7);
      ++next;
    };
    for (unsigned k = 0; k < count && (!is_one_way || rank == 0); ++k) {
      said_[rank][k] = k + 7;
      const parcel mine{{k}};
      if (with_deadlines && rank == 0) {
        while (!me.send_wait_for((rank + 1) % n, mine, std::chrono::nanoseconds(1), take)) {
        }
      } else {
        me.send_wait((rank + 1) % n, mine, take);
      }
    }
    while (me.idle(true) == idle_result::message) {
      const received message = me.recv();
      take(message);
      me.release(message);
    }
    RL_ASSERT(next == (!is_one_way || rank == 1 ? count : 0u));
  }

 private:
  struct parcel {
    std::uint64_t words[8];
  };
  // A ring holds three.
  static constexpr unsigned count = 6;

  checked_plain<unsigned> said_[most_threads][count];
};

// The receiver gives room back twice, and only the second time it is enough: a sender that misses
// that sleeps for ever. (The model shows a stale value only to a thread that has not paused since
// it first saw it, so the missed update must not be the first.)
class hoarding {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t /*n*/) {
    const auto never = [](const received&) { RL_ASSERT(false); };
    if (me.rank() == 0) {
      me.send_wait(1, std::array<std::uint64_t, 7>{}, never);
      for (int k = 0; k < 3; ++k) me.send_wait(1, std::array<std::uint64_t, 8>{}, never);
      RL_ASSERT(me.idle(true) == idle_result::unanimous);
      return;
    }
    const auto next = [&me] {
      if (!me.can_recv()) RL_ASSERT(me.idle(true) == idle_result::message);
      return me.recv();
    };
    me.release(next());
    const received second = next(), third = next();
    me.release(second);
    me.release(third);
    me.release(next());
    RL_ASSERT(me.idle(true) == idle_result::unanimous);
  }
};

// Active messages: every participant asks the next one more often than there is room for. The
// handler of a question answers inside of the wait; that of an answer runs later and asks once
// more.
class asking {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t n) {
    const rank_t rank = me.rank(), next = (rank + 1) % n;
    active_messages active(me);
    unsigned questions = 0, answers = 0;
    active_handler<parcel> ask;
    const auto send = [&](unsigned k) {
      said_[rank][k] = k + 7;
      active.send(next, ask, parcel{{k}});
    };
    const auto answer = active.template on_later<parcel>([&](rank_t from, const parcel& p) {
      RL_ASSERT(from == next && p.words[0] == answers++);
      RL_ASSERT(told_[from][p.words[0]] == p.words[0] + 9);
      if (p.words[0] == 0) send(count);
    });
    ask = active.template on<parcel>([&](rank_t from, const parcel& p) {
      RL_ASSERT(from == (rank + n - 1) % n && p.words[0] == questions++);
      RL_ASSERT(said_[from][p.words[0]] == p.words[0] + 7);
      told_[rank][p.words[0]] = static_cast<unsigned>(p.words[0]) + 9;
      active.send(from, answer, p);
    });
    for (unsigned k = 0; k < count; ++k) send(k);
    RL_ASSERT(active.idle(true) == idle_result::unanimous);
    RL_ASSERT(questions == count + 1 && answers == count + 1);
  }

 private:
  struct parcel {
    std::uint64_t words[7];
  };
  // A ring holds three.
  static constexpr unsigned count = 5;

  checked_plain<unsigned> said_[most_threads][count + 1], told_[most_threads][count + 1];
};

// Whether the call throws because a participant has left.
template <class Call>
bool is_told(Call call) {
  try {
    call();
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

// The receiver never receives, and leaves. A sender that waits for room there gets an error, asleep
// or not, and also if another has left before.
class abandoning {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t /*n*/) {
    if (me.rank() != 0) return me.leave();
    RL_ASSERT(is_told([&] {
      for (unsigned k = 0; k < 8; ++k)
        me.send_wait(1, std::uint64_t{k}, [](const received&) { RL_ASSERT(false); });
      const std::array<std::uint64_t, 8> large{};
      for (unsigned k = 0; k < 4; ++k) me.send_wait(1, large, [](const received&) {});
    }));
  }
};

// One participant leaves instead of coming: the others get an error, asleep or not.
class deserting {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t n) {
    RL_ASSERT(me.idle(true) == idle_result::unanimous);
    if (me.rank() == n - 1) return me.leave();
    RL_ASSERT(is_told([&] { me.idle(true); }));
  }
};

// Gives up at a moment drawn at random, and comes again; the third time it waits, because the
// systematic search would let it give up without end while nobody else runs. All calls have checks,
// so the participant that ends an episode reads the types of what the others have given.
class hesitating {
 public:
  template <class Endpoint>
  void operator()(Endpoint& me, rank_t n) {
    const rank_t rank = me.rank();
    for (unsigned episode = 0; episode < 2; ++episode) {
      wrote_[episode][rank] = episode + 1;
      if (rank == n - 1) {
        timed_idle late;
        for (unsigned attempt = 0; !late && attempt < 2; ++attempt)
          late = me.idle_for(true, std::chrono::nanoseconds(1), here);
        RL_ASSERT((late ? late.result : me.idle(true, here)) == idle_result::unanimous);
      } else {
        RL_ASSERT(me.idle(true, here) == idle_result::unanimous);
      }
      for (rank_t other = 0; other < n; ++other) RL_ASSERT(wrote_[episode][other] == episode + 1);
    }
  }

 private:
  static constexpr call_site here{__FILE__, __LINE__};
  checked_plain<unsigned> wrote_[2][most_threads];
};

template <class Behaviour, class Detector, class Wait>
program of(const std::string& name, rank_t n) {
  return {name + ", n = " + std::to_string(n), n, [n]() -> std::unique_ptr<scenario> {
            return std::make_unique<idling<Behaviour, Detector, Wait>>(n);
          }};
}

template <class Detector>
std::vector<program> idle_programs() {
  std::vector<program> made;
  for (rank_t n = 2; n <= 3; ++n) {
    made.push_back(of<conversing, Detector, spinning>("messages, spin", n));
    made.push_back(of<conversing, Detector, parking>("messages, park", n));
    made.push_back(of<deserting, Detector, parking>("one leaves, park", n));
  }
  made.push_back(of<hesitating, Detector, spinning>("a deadline, spin", 2));
  made.push_back(of<conversing, Detector, adapting>("messages, adaptive", 2));
  return made;
}

struct no_wake {
  void operator()(rank_t) const noexcept {}
};

// The star between threads. tests/termination explores the protocols themselves; this program
// checks what a participant writes while a report of before its deadline is under way.
struct star_detector : protocol_detector<checked, no_wake> {
  explicit star_detector(rank_t n) : protocol_detector("star", n, no_wake{}) {}
};

// A subject for each detector of the list that is no protocol: tests/termination explores those.
template <class... Entry>
void add_detectors(std::vector<subject>& to, std::tuple<Entry...>*) {
  const auto add = [&]<class E>(E) {
    static const std::string sites = std::string(E::info.name) + '.';
    if constexpr (!E::info.is_protocol)
      to.push_back({"idle: " + std::string(E::info.name),
                    idle_programs<typename E::template type<checked, no_wake>>(), sites});
  };
  (add(Entry()), ...);
}

}  // namespace

std::vector<subject> message_subjects() {
  using counter = counter_detector<checked>;
  using snapshot = snapshot_detector<checked>;
  subject rings{"rings", {}, "ring."};
  rings.programs.push_back({"a writer, a reader", 2, []() -> std::unique_ptr<scenario> {
                              return std::make_unique<piping>();
                            }});
  // These are the sends that wait for room.
  rings.programs.push_back(of<hoarding, counter, parking_at_once>("all room at once, park", 2));
  rings.programs.push_back(of<pressing<true>, counter, parking>("one way, park", 2));
  rings.programs.push_back(of<pressing<false>, counter, parking>("both ways, park", 2));
  rings.programs.push_back(of<pressing<false>, counter, parking>("in a circle, park", 3));
  rings.programs.push_back(of<pressing<false>, counter, adapting>("both ways, adaptive", 2));
  rings.programs.push_back(of<pressing<false, true>, snapshot, spinning>("deadlines, spin", 2));
  rings.programs.push_back(of<asking, counter, parking>("active messages, park", 2));
  rings.programs.push_back(of<asking, counter, adapting>("active messages, adaptive", 2));
  rings.programs.push_back(of<asking, counter, parking>("active messages in a circle, park", 3));
  rings.programs.push_back(of<abandoning, counter, parking>("the receiver leaves, park", 2));
  rings.programs.push_back(of<abandoning, counter, parking>("two leave, park", 3));
  // The common part of both detectors is weakened once.
  subject shared{"idle", {}, "idle."}, wake_words{"wake word", {}, "wake_word."};
  for (rank_t n = 2; n <= 3; ++n) {
    shared.programs.push_back(of<conversing, counter, spinning>("counter, spin", n));
    shared.programs.push_back(of<conversing, counter, parking>("counter, park", n));
    shared.programs.push_back(of<deserting, counter, parking>("counter, one leaves, park", n));
    wake_words.programs.push_back(of<conversing, snapshot, parking>("snapshot, park", n));
  }
  shared.programs.push_back(of<hesitating, star_detector, spinning>("star, a deadline, spin", 2));
  for (program& p : eventcount_programs()) wake_words.programs.push_back(std::move(p));
  std::vector<subject> made{std::move(rings), std::move(shared), std::move(wake_words)};
  add_detectors(made, static_cast<registry::detectors*>(nullptr));
  return made;
}

}  // namespace tutti::model
