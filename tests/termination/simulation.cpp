// SPDX-License-Identifier: Apache-2.0
// The event queue, the programs, and the truth about every message.
#include "tests/termination/simulation.hpp"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>

#include "tutti/termination/protocol/message_counts.hpp"

namespace tutti::protocol::test {
namespace {

struct event {
  enum class kind { work, late, leave, message, control };
  double time = 0;
  // Orders two events at one time.
  std::uint64_t order = 0;
  kind what = kind::work;
  rank_t to = 0;
  // For work and late: the event is void if the participant's turn has changed.
  std::uint64_t turn = 0;
  // For a message.
  std::uint8_t stamp = 0;
  // For a message: the true episode.
  int episode = 0;
  protocol::control control{};

  bool operator>(const event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

struct waiting_message {
  std::uint8_t stamp;
  int episode;
};

struct member {
  enum class state { running, idle, late, leaving, finished };
  message_counts counted{};
  state is = state::running;
  int episode = 0;
  std::uint64_t turn = 0;
  std::uint64_t to_send = 0;
  std::deque<waiting_message> inbox{};
  // The standing vote is the one that a wave has taken along.
  bool vote = false, standing_vote = false;
  double value = 0, standing_value = 0;
};

value_t as_value(double d) {
  value_t v{};
  v = d;
  return v;
}
// A sum of doubles shows the order in which it was made.
value_t add(const value_t& left, const value_t& right) {
  return as_value(static_cast<double>(left) + static_cast<double>(right));
}

class simulation {
 public:
  explicit simulation(const simulated& s) : s_(s), random_(s.seed) {
    for (rank_t r = 0; r < s.participants; ++r) {
      machines_.emplace_back(s.algorithm, r, s.participants, s.scheme);
      members_.emplace_back();
      in_flight_.push_back({});
    }
    result_.episodes.resize(static_cast<std::size_t>(s.episodes));
    standing_.resize(s.participants);
    for (rank_t r = 0; r < s.participants; ++r) begin_episode(r);
  }

  simulation_result run() {
    while (!events_.empty() && result_.errors.size() < 5) {
      const event e = events_.top();
      events_.pop();
      now_ = e.time;
      if (now_ > 1e7) {
        error("the episode never ends");
        break;
      }
      handle(e);
    }
    for (const member& m : members_)
      if (m.is != member::state::finished && result_.errors.empty())
        error("nothing happens any more and somebody has not been released");
    return result_;
  }

 private:
  void error(const std::string& what) {
    result_.errors.push_back(
        std::string(s_.algorithm) + ", n = " + std::to_string(s_.participants) + ", seed " +
        std::to_string(s_.seed) + ", time " + std::to_string(now_) + ": " + what);
  }
  double delay(double mean) {
    return s_.random_delays ? std::exponential_distribution<double>(1 / mean)(random_) : mean;
  }
  bool happens(double probability) { return std::bernoulli_distribution(probability)(random_); }
  void at(double time, event e) {
    e.time = time;
    e.order = ++order_;
    events_.push(e);
  }
  void work_soon(rank_t r) {
    event e;
    e.to = r;
    e.turn = ++members_[r].turn;
    at(now_ + delay(0.5), e);
  }

  // Sends a machine's messages and counts them for the episode to which they belong.
  auto out(rank_t from) {
    return [this, from](rank_t to, const control& c) {
      if (c.source != from) error("a control message has the wrong source");
      const bool after_release = c.kind == message_kind::left || c.kind == message_kind::resume;
      const int episode = static_cast<int>(c.episode) - after_release;
      if (episode < s_.episodes) {
        ++cost(episode).control;
        if (c.kind == message_kind::probe && from == 0) {
          if (last_wave_ != std::pair(c.episode, c.wave))
            cost(episode).late_waves += is_quiet(episode);
          last_wave_ = {c.episode, c.wave};
        }
      }
      event e;
      e.what = event::kind::control;
      e.to = to;
      e.control = c;
      at(now_ + delay(s_.control_delay), e);
    };
  }
  void begin_episode(rank_t r) {
    member& m = members_[r];
    if (m.episode == s_.episodes) {
      m.is = member::state::finished;
      return;
    }
    m.is = member::state::running;
    m.to_send = s_.messages > 0 && s_.participants > 1
                    ? std::poisson_distribution<std::uint64_t>(s_.messages)(random_)
                    : 0;
    work_soon(r);
  }

  void handle(const event& e) {
    member& m = members_[e.to];
    switch (e.what) {
      case event::kind::work:
        if (e.turn == m.turn) work(e.to);
        break;
      case event::kind::late:
        if (e.turn != m.turn || m.is != member::state::idle) break;
        machines_[e.to].withdraw();
        m.is = member::state::late;
        work_soon(e.to);
        break;
      case event::kind::leave:
        m.is = member::state::running;
        ++m.episode;
        see(e.to, machines_[e.to].left(out(e.to)));
        begin_episode(e.to);
        break;
      case event::kind::message:
        m.inbox.push_back({e.stamp, e.episode});
        if (!machines_[e.to].admits(e.stamp))
          ++result_.held_back;
        else if (m.is == member::state::idle)
          refute(e.to);
        break;
      case event::kind::control: control_arrives(e); break;
    }
  }

  void refute(rank_t r) {
    machines_[r].active();
    members_[r].is = member::state::running;
    ++result_.refuted;
    work_soon(r);
  }

  // A participant does one thing at a time, with time between: it receives, else sends, else is
  // idle.
  void work(rank_t r) {
    member& m = members_[r];
    machine& own = machines_[r];
    if (!m.inbox.empty() && own.admits(m.inbox.front().stamp)) {
      if (m.inbox.front().episode != m.episode)
        error("a message of another episode reaches a program");
      m.inbox.pop_front();
      m.counted.received();
      own.active();
      m.is = member::state::running;
      m.to_send += happens(s_.replies);
      m.counted.freed();
      --in_flight(r, m.episode);
      return work_soon(r);
    }
    if (m.is == member::state::late && s_.participants > 1) m.to_send += happens(0.3);
    if (m.to_send > 0) {
      if (own.sends_allowed()) send(r);
      return work_soon(r);
    }
    enter_idle(r);
  }

  void send(rank_t r) {
    member& m = members_[r];
    m.is = member::state::running;
    --m.to_send;
    rank_t to = std::uniform_int_distribution<rank_t>(0, s_.participants - 2)(random_);
    to += to >= r;
    m.counted.sent();
    ++in_flight(to, m.episode);
    ++cost(m.episode).messages;
    event e;
    e.what = event::kind::message;
    e.to = to;
    e.stamp = machines_[r].stamp();
    e.episode = m.episode;
    at(now_ + delay(1), e);
  }

  void enter_idle(rank_t r) {
    member& m = members_[r];
    const bool taken_along = m.is == member::state::late && machines_[r].committed();
    m.is = member::state::idle;
    ++m.turn;
    m.vote = happens(0.95);
    m.value = std::uniform_real_distribution<double>(-1, 1)(random_);
    if (!taken_along) stand(r);
    contribution given;
    given.vote = m.vote;
    if (s_.values) {
      given.value = as_value(m.value);
      given.combine = add;
      given.operation = 7;
    }
    cost(m.episode).quiet = now_;
    if (happens(s_.lateness)) {
      event e;
      e.what = event::kind::late;
      e.to = r;
      e.turn = m.turn;
      at(now_ + delay(2), e);
    }
    see(r, machines_[r].passive(m.counted.totals(), given, out(r)));
  }
  void stand(rank_t r) {
    members_[r].standing_vote = members_[r].vote;
    members_[r].standing_value = members_[r].value;
  }

  void control_arrives(const event& e) {
    if (e.control.kind == message_kind::probe) stand(e.to);
    see(e.to, machines_[e.to].receive(e.control, out(e.to)));
    if (!s_.repeats) return;
    const outcome again = machines_[e.to].receive(e.control, [&](rank_t, const control&) {
      error("a refused control message has an answer");
    });
    if (again.status == status::accepted) error("a control message is accepted twice");
    ++result_.refused;
  }

  bool is_quiet(int episode) {
    for (rank_t r = 0; r < s_.participants; ++r)
      if (members_[r].episode != episode || members_[r].is != member::state::idle ||
          in_flight(r, episode) != 0)
        return false;
    return true;
  }

  void see(rank_t r, const outcome& o) {
    if (o.status != status::accepted) error("refused: " + std::string(text(o.status)));
    if (!o.released) return;
    const int episode = members_[r].episode;
    bool unanimous = true;
    for (rank_t i = 0; i < s_.participants; ++i) {
      const member& m = members_[i];
      if (m.episode < episode) error("released before everybody has entered");
      if (in_flight(i, episode) != 0) error("released while a message is under way or not freed");
      if (m.episode > episode) continue;
      if (m.is == member::state::running) error("released while somebody is running");
      standing_[i] = {m.standing_vote, m.standing_value};
    }
    for (const auto& [vote, value] : standing_) unanimous = unanimous && vote;
    if (o.unanimous != unanimous) error("the verdict is not the conjunction of the votes");
    if (s_.values) check_value(o);
    cost(episode).waves = o.waves;
    cost(episode).released = now_;
    members_[r].is = member::state::leaving;
    ++members_[r].turn;
    event e;
    e.what = event::kind::leave;
    e.to = r;
    at(now_ + delay(0.1), e);
  }
  void check_value(const outcome& o) {
    const double expected = schedule::fold(
        0, s_.participants, [&](rank_t i) { return standing_[i].second; },
        [](double a, double b) { return a + b; });
    if (o.mismatched) error("the operations agree and are said not to");
    if (static_cast<double>(o.value) != expected)
      error("the aggregate is not that of the values given, in their order");
  }
  std::uint64_t& in_flight(rank_t to, int episode) {
    return in_flight_[to][static_cast<std::size_t>(episode % 2)];
  }
  episode_cost& cost(int episode) { return result_.episodes[static_cast<std::size_t>(episode)]; }

  const simulated& s_;
  std::mt19937_64 random_;
  double now_ = 0;
  std::uint64_t order_ = 0;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::deque<machine> machines_;
  std::vector<member> members_;
  // To each participant, by parity of the episode, until freed.
  std::vector<std::array<std::uint64_t, 2>> in_flight_;
  std::vector<std::pair<bool, double>> standing_;
  std::pair<std::uint64_t, std::uint32_t> last_wave_{0, 0};
  simulation_result result_;
};

}  // namespace

simulation_result simulate(const simulated& s) { return simulation(s).run(); }

}  // namespace tutti::protocol::test
