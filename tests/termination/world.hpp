// SPDX-License-Identifier: Apache-2.0
// A model of up to four participants around the shipped machines: programs that do whatever a
// program may, a network that delivers in any order, and the properties that must hold whatever
// happens.
//
// The machine is compiled code, not a description of it. Everything else is as small as the
// properties allow: a message's only content is the episode in which it was sent, so the messages
// under way to a participant are one number per episode.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "tests/termination/watched.hpp"
#include "tutti/termination/protocol/algorithms.hpp"
#include "tutti/termination/protocol/message_counts.hpp"

namespace tutti::protocol::test {

struct scenario {
  // The name of the algorithm.
  std::string name;
  release_scheme scheme = release_scheme::epochs;
  rank_t participants = 2;
  // The fan of the gathering algorithms.
  rank_t fan = 4;
  criterion decides_by = criterion::safra;
  // In all episodes together.
  std::uint32_t messages = 2;
  // The programs end after this many episodes.
  std::uint32_t episodes = 2;
  // How often a deadline passes in all.
  std::uint32_t deadlines = 0;
  // Each idle() votes either way; otherwise rank 0 votes either way and the others vote true.
  bool free_votes = true;
  // In every other episode, from the first on, rank 1 gives another operation than the rest.
  bool disagrees = false;
  // Whether to distinguish states also by what each program has observed.
  bool histories = false;
};

enum class step : std::uint8_t { send, wake, take, free, idle, late, control, leave };
struct action {
  step what;
  std::uint8_t who;
  std::uint8_t argument;
};

inline std::string text(const action& a) {
  const std::string who = std::to_string(a.who), argument = std::to_string(a.argument);
  switch (a.what) {
    case step::send: return who + " sends to " + argument;
    case step::wake: return who + " is woken";
    case step::take: return who + " takes a message of episode " + argument;
    case step::free: return who + " frees a message";
    case step::idle: return who + " is idle and votes " + argument;
    case step::late: return who + "'s deadline passes";
    case step::control: return who + " gets a control message";
    case step::leave: return who + " leaves";
  }
  return {};
}

// Values are distinguished by rank and vote; combining them in another order gives another result.
inline value_t value_of(rank_t rank, bool vote) {
  value_t v{};
  v = std::uint64_t{2} * rank + vote + 1;
  return v;
}
inline value_t combined(const value_t& left, const value_t& right) {
  value_t v{};
  v = static_cast<std::uint64_t>(left) * 31 + static_cast<std::uint64_t>(right) * 7 + 1;
  return v;
}

template <class Machine>
class world {
 public:
  explicit world(const scenario& s) : world(s, std::make_index_sequence<most_participants>()) {}

  // The violation; null: none.
  const char* violation() const { return violation_; }

  template <class F>
  void each_action(const scenario& s, F&& f) const {
    for (std::uint8_t who = 0; who < s.participants; ++who) actions_of(s, who, f);
    for (std::uint8_t i = 0; i < rest_.flying; ++i)
      f(action{step::control, static_cast<std::uint8_t>(flights_[i].to), i});
  }

  void apply(const scenario& s, const action& a) {
    if (s.histories && a.what != step::control && a.what != step::leave)
      remember(a.who, static_cast<std::uint64_t>(a.what), a.argument);
    Machine& m = machines_[a.who];
    program& p = rest_.programs[a.who];
    switch (a.what) {
      case step::send:
        p.mode = running;
        --rest_.messages_left;
        rest_.counted[a.who].sent();
        ++rest_.under_way[a.argument][p.episode];
        break;
      case step::wake: activate(p, m, a.argument); break;
      case step::take:
        activate(p, m, a.argument);
        rest_.counted[a.who].received();
        --rest_.under_way[a.who][a.argument];
        ++p.held;
        break;
      case step::free:
        rest_.counted[a.who].freed();
        --p.held;
        break;
      case step::idle: enter(s, a.who, a.argument != 0); break;
      case step::late:
        p.mode = late;
        --rest_.deadlines_left;
        m.withdraw();
        break;
      case step::control: deliver(s, a); break;
      case step::leave:
        p = next_episode(p);
        see(s, a.who, m.left([&](rank_t to, const control& c) { fly(s, to, c); }));
        break;
    }
    std::sort(flights_.begin(), flights_.begin() + rest_.flying, before);
  }

  // The first episode that some participant has not left.
  std::uint8_t episode(const scenario& s) const {
    std::uint8_t first = rest_.programs[0].episode;
    for (rank_t r = 1; r < s.participants; ++r) first = std::min(first, rest_.programs[r].episode);
    return first;
  }
  // Whether all that have not left this episode are inside idle(), with nothing under way or held:
  // it must end by itself.
  bool quiescent(const scenario& s) const {
    const std::uint8_t e = episode(s);
    if (e >= s.episodes) return false;
    for (rank_t r = 0; r < s.participants; ++r) {
      const program& p = rest_.programs[r];
      if (rest_.under_way[r][e] != 0) return false;
      if (p.episode == e && (p.held != 0 || (p.mode != inside && p.mode != released))) return false;
    }
    return true;
  }
  bool everybody_released(const scenario& s, std::uint8_t e) const {
    for (rank_t r = 0; r < s.participants; ++r)
      if (rest_.programs[r].episode == e && rest_.programs[r].mode != released) return false;
    return true;
  }
  bool finished(const scenario& s) const { return episode(s) >= s.episodes; }
  // What each program has observed, in its order. Only with scenario::histories.
  const std::array<std::uint64_t, most_participants>& histories() const { return rest_.histories; }
  // The next step that needs no program's decision: a control message arrives, or a released
  // participant leaves.
  bool forced(const scenario& s, action& a) const {
    if (rest_.flying != 0) a = {step::control, static_cast<std::uint8_t>(flights_[0].to), 0};
    for (std::uint8_t r = 0; rest_.flying == 0 && r < s.participants; ++r)
      if (rest_.programs[r].mode == released) return a = {step::leave, r, 0}, true;
    return rest_.flying != 0;
  }

  std::uint64_t hash() const {
    static_assert(
        std::is_trivially_copyable_v<world> && std::has_unique_object_representations_v<world>,
        "states are compared as memory");
    // Four lanes let the multiplications overlap; each step is one to one in its input.
    std::uint64_t lanes[4] = {1, 2, 3, 4};
    const auto take_in = [&](const auto& first, std::size_t count) {
      static_assert(sizeof(first) % 8 == 0);
      const auto* bytes = reinterpret_cast<const unsigned char*>(&first);
      for (std::size_t i = 0; i < count * sizeof(first) / 8; ++i) {
        std::uint64_t word;
        std::memcpy(&word, bytes + 8 * i, 8);
        std::uint64_t& lane = lanes[i % 4];
        lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
        lane ^= lane >> 32;
      }
    };
    take_in(machines_[0], machines_[0].size());
    take_in(rest_, 1);
    take_in(flights_[0], rest_.flying);
    std::uint64_t all = rest_.flying;
    for (const std::uint64_t lane : lanes) {
      all = (all ^ lane) * 0xd6e8feb86659fd93u;
      all ^= all >> 32;
    }
    return all;
  }

 private:
  static constexpr std::size_t most_episodes = 4;
  static constexpr std::size_t most_flights = 8;

  enum mode_t : std::uint8_t {
    running,
    // Inside idle().
    inside,
    // Its deadline has passed, and no message has come since.
    late,
    // The machine knows that the episode is over; the program does not yet.
    released,
  };
  struct program {
    std::uint8_t mode = running;
    std::uint8_t episode = 0;
    // Messages received and not freed.
    std::uint8_t held = 0;
    // The vote given last.
    std::uint8_t vote = 0;
    // The vote as it counts now: one that a wave has taken along stands until the next.
    std::uint8_t standing = 0;
    std::uint8_t spare[3] = {};
  };
  struct flight {
    control message;
    rank_t to = 0;
    rank_t spare = 0;
  };

  template <std::size_t... Ranks>
  world(const scenario& s, std::index_sequence<Ranks...>)
      : machines_{make(s, static_cast<rank_t>(Ranks))...} {
    rest_.messages_left = static_cast<std::uint8_t>(s.messages);
    rest_.deadlines_left = static_cast<std::uint8_t>(s.deadlines);
  }
  static Machine make(const scenario& s, rank_t rank) {
    // Those beyond are never asked.
    rank = std::min(rank, s.participants - 1);
    if constexpr (std::is_same_v<Machine, gather<watched>>) {
      return Machine(rank, s.participants, s.fan, s.decides_by, s.scheme);
    } else {
      std::optional<Machine> made;
      with_algorithm(s.name, [&](auto entry) {
        entry.construct(rank, s.participants, s.scheme, [&](auto... arguments) {
          if constexpr (std::is_constructible_v<Machine, decltype(arguments)...>)
            made.emplace(arguments...);
        });
      });
      return *made;
    }
  }

  template <class F>
  void actions_of(const scenario& s, std::uint8_t who, F&& f) const {
    const program& p = rest_.programs[who];
    if (p.episode >= s.episodes) return;
    if (p.mode == released) return f(action{step::leave, who, 0});
    const Machine& m = machines_[who];
    // The lowest episode comes first; `take` checks that there is no other.
    for (std::uint8_t e = 0; e < most_episodes; ++e)
      if (rest_.under_way[who][e] != 0 && m.admits(e & 1))
        f(action{p.mode == inside && !s.histories ? step::wake : step::take, who, e});
    if (p.mode == inside) {
      if (rest_.deadlines_left != 0) f(action{step::late, who, 0});
      return;
    }
    if (p.held != 0) f(action{step::free, who, 0});
    if (rest_.messages_left != 0 && m.sends_allowed())
      for (std::uint8_t to = 0; to < s.participants; ++to)
        if (to != who) f(action{step::send, who, to});
    if (s.free_votes || who == 0) f(action{step::idle, who, 0});
    f(action{step::idle, who, 1});
  }

  void enter(const scenario& s, std::uint8_t who, bool vote) {
    program& p = rest_.programs[who];
    const bool taken_along = p.mode == late && machines_[who].committed();
    p.mode = inside;
    p.vote = vote;
    if (!taken_along) p.standing = p.vote;
    contribution given;
    given.value = value_of(who, vote);
    given.combine = combined;
    given.operation = disagree_in(s, p.episode) && who == 1 ? 2 : 1;
    given.vote = vote;
    see(s, who,
        machines_[who].passive(rest_.counted[who].totals(), given,
                               [&](rank_t to, const control& c) { fly(s, to, c); }));
  }

  void deliver(const scenario& s, const action& a) {
    const control message = flights_[a.argument].message;
    flights_[a.argument] = flights_[--rest_.flying];
    flights_[rest_.flying] = flight{};
    if (message.kind == message_kind::probe)
      rest_.programs[a.who].standing = rest_.programs[a.who].vote;
    see(s, a.who,
        machines_[a.who].receive(message, [&](rank_t to, const control& c) { fly(s, to, c); }));
  }
  static bool disagree_in(const scenario& s, std::uint8_t episode) {
    return s.disagrees && episode % 2 == 0;
  }

  void fly(const scenario& s, rank_t to, const control& c) {
    for (std::uint8_t i = 0; i < rest_.flying; ++i)
      // A partial value may remain from a wave that went on without it.
      if (flights_[i].to == to && flights_[i].message.source == c.source &&
          (!s.disagrees || flights_[i].message.kind != message_kind::partial))
        fail("two control messages between one pair at a time");
    if (rest_.flying == most_flights)
      return fail("more control messages than the model has room for");
    flights_[rest_.flying++] = {c, to, 0};
  }
  static bool before(const flight& a, const flight& b) {
    return std::memcmp(&a, &b, sizeof(flight)) < 0;
  }

  // --- the properties ----------------------------------------------------------------------------
  void fail(const char* what) {
    if (violation_ == nullptr) violation_ = what;
  }

  void check_episode(const program& p, std::uint8_t episode_of_message) {
    if (episode_of_message != p.episode) fail("a message of another episode reaches a program");
  }

  // A message comes to a program, whatever it was waiting for.
  void activate(program& p, Machine& m, std::uint8_t episode_of_message) {
    check_episode(p, episode_of_message);
    p.mode = running;
    p.vote = p.standing = 0;
    m.active();
  }

  void see(const scenario& s, std::uint8_t who, const outcome& o) {
    if (o.status == status::overdue && s.disagrees) return;
    if (o.status != status::accepted) fail("a control message is refused");
    if (!o.released) return;
    program& own = rest_.programs[who];
    if (own.mode != inside && own.mode != late) fail("released without being idle");
    bool unanimous = true;
    for (rank_t r = 0; r < s.participants; ++r) {
      const program& p = rest_.programs[r];
      if (p.episode < own.episode) fail("released before everybody has entered");
      if (p.episode == own.episode) {
        if (p.mode == running) fail("released while somebody is running");
        if (p.held != 0) fail("released while a message is received and not freed");
        unanimous = unanimous && p.standing;
        rest_.standing[r] = p.standing;
      } else {
        unanimous = unanimous && rest_.standing[r];
      }
      for (std::uint8_t e = 0; e <= own.episode; ++e)
        if (rest_.under_way[r][e] != 0) fail("released while a message is under way");
    }
    const bool disagree = disagree_in(s, own.episode);
    if (o.mismatched && !disagree) fail("the operations agree and are said not to");
    if (!o.mismatched && disagree) fail("the operations differ and are said to agree");
    if (o.unanimous != unanimous) fail("the verdict is not the conjunction of the votes");
    const value_t expected = schedule::fold(
        0, s.participants, [&](rank_t r) { return value_of(r, rest_.standing[r]); }, combined);
    if (!disagree && static_cast<std::uint64_t>(o.value) != static_cast<std::uint64_t>(expected))
      fail("the aggregate is not that of the values given");
    if (s.histories) remember(who, 100 + unanimous, static_cast<std::uint64_t>(o.value));
    own.mode = released;
    // Under epochs no participant sees whether a released program has left: what it may do later,
    // it may do now.
    if (s.scheme == release_scheme::epochs) own = next_episode(own);
  }
  static program next_episode(const program& p) {
    program next;
    next.episode = static_cast<std::uint8_t>(p.episode + 1);
    return next;
  }

  void remember(std::uint8_t who, std::uint64_t what, std::uint64_t argument) {
    std::uint64_t& h = rest_.histories[who];
    h = (h ^ (what << 32 | argument) ^ argument >> 32) * 0x9e3779b97f4a7c15u + 1;
    h ^= h >> 29;
  }

  struct rest_t {
    std::array<basic_message_counts<watched>, most_participants> counted;
    std::array<program, most_participants> programs{};
    std::array<std::array<std::uint8_t, most_episodes>, most_participants> under_way{};
    std::array<std::uint64_t, most_participants> histories{};
    // The votes of those that have left already.
    std::array<std::uint8_t, most_participants> standing{};
    std::uint8_t messages_left = 0;
    std::uint8_t deadlines_left = 0;
    std::uint8_t flying = 0;
    std::uint8_t spare = 0;
  };
  std::array<Machine, most_participants> machines_;
  rest_t rest_;
  std::array<flight, most_flights> flights_{};
  const char* violation_ = nullptr;
};

}  // namespace tutti::protocol::test
