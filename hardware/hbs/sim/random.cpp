// SPDX-License-Identifier: Apache-2.0
// Runs the structure with constrained random threads: several barriers over several sockets at
// once, each with its own trace.

#include <algorithm>
#include <numeric>

#include "hardware/flow/barrier_unit.hpp"
#include "hardware/hbs/sim/sockets.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

std::vector<member> everybody() {
  std::vector<member> all;
  for (rank_t s = 0; s < SOCKETS; ++s)
    for (rank_t t = 0; t < LOCAL; ++t) all.push_back({s, t});
  return all;
}

// Returns all threads, shuffled and divided into at most BARRIERS groups.
std::vector<std::vector<member>> cut(std::mt19937_64& random) {
  std::vector<member> all = everybody();
  std::shuffle(all.begin(), all.end(), random);
  std::vector<std::vector<member>> groups(1 + random() % BARRIERS);
  for (std::size_t i = 0; i < all.size(); ++i)
    groups[i < groups.size() ? i : random() % groups.size()].push_back(all[i]);
  std::erase_if(groups, [](const auto& g) { return g.empty(); });
  return groups;
}

// One in `often` arrivals is withdrawn.
auto fickle(std::uint64_t seed, std::uint64_t often) {
  return [random = std::mt19937_64(seed), often]() mutable -> std::uint64_t {
    if (random() % often != 0) return never;
    return random() % 2 == 0 ? random() % 8 : random() % 200;
  };
}

// Checks that a socket reported a late withdrawal if there was one, and no other error.
std::string check_errors(sockets& s) {
  for (rank_t k = 0; k < SOCKETS; ++k) {
    const std::uint64_t e = s.read(k, reg::error), due = s.refused(k) != 0 ? reg::late_init : 0;
    if (e != due)
      return "errors " + std::to_string(e) + " of socket " + std::to_string(k) + ", not " +
             std::to_string(due);
    s.write(k, reg::error, e);
  }
  return {};
}

std::string lives(testbench& bench, const arguments& with) {
  std::mt19937_64 random(with.seed);
  const std::uint64_t rounds = std::max<std::uint64_t>(with.cycles / 50'000, 2);
  // Includes a rare case, in which some sockets must see no withdrawal.
  constexpr std::uint64_t often[] = {3, 200, 30};
  std::uint64_t overlaps = 0, withdrawn = 0, refused = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    sockets_plan p;
    if (round == 0)
      p.groups = {everybody()};
    else
      p.groups = cut(random);
    p.think = moody(random(), 32, 600);
    p.regret = fickle(random(), often[round % 3]);
    p.to_structure = static_cast<unsigned>(random() % 20);
    p.back = static_cast<unsigned>(random() % 20);
    sockets s(bench, p);
    if (!s.run(30, 400'000)) return "stuck";
    if (std::string wrong = s.check(30); !wrong.empty()) return wrong;
    overlaps += s.overlaps();
    // The barriers are created again in the middle of an episode.
    s.run(1'000'000, random() % 300);
    s.create_all();
    if (!s.run(5, 100'000)) return "stuck after the barriers were made anew";
    if (std::string wrong = s.check(5); !wrong.empty()) return "made anew: " + wrong;
    if (std::string wrong = check_errors(s); !wrong.empty()) return wrong;
    withdrawn += s.withdrawn();
    for (rank_t k = 0; k < SOCKETS; ++k) refused += s.refused(k);
  }
  if (LOCAL > 1 && withdrawn == 0) return "no arrival was ever taken back";
  // A single socket announces nothing; an episode there is complete when all have arrived.
  if (SOCKETS > 1 ? refused == 0 : refused != 0)
    return std::to_string(refused) + " arrivals were taken back too late";
  if (SOCKETS > 1 && overlaps == 0) return "generations never overlapped";
  return {};
}

std::string misses_one(testbench& bench) {
  if (SOCKETS * LOCAL < 2) return {};
  sockets_plan p;
  p.groups = {everybody()};
  p.absent = 0;
  sockets s(bench, p);
  if (s.run(1, 2'000 + 10 * LINK_LATENCY) || !s.passages(0).empty())
    return "a thread left before all had arrived";
  std::uint64_t arrived = s.read(0, reg::state(0, 0, sockets::words));
  if ((arrived & 1) != 0 || (LOCAL > 1 && (arrived & 2) == 0))
    return "the state does not say who is missing";
  return {};
}

std::string refuses(testbench& bench) {
  sockets_plan p;
  p.groups = {{{0, 0}}};
  sockets s(bench, p);
  const auto expect = [&](std::uint64_t address, std::uint64_t value,
                          std::uint64_t bit) -> std::string {
    s.write(0, reg::error, ~std::uint64_t{0});
    s.write(0, address, value);
    const std::uint64_t e = s.read(0, reg::error);
    if (e == bit) return {};
    return "error register " + std::to_string(e) + ", not " + std::to_string(bit) +
           ", after a write at " + std::to_string(address);
  };
  // An episode is complete, so that a barrier that is made anew shows another sense.
  if (!s.run(1, 10'000)) return "stuck";
  // What the registers show of the barrier, which no refused write changes.
  const auto shown = [&] {
    std::vector<std::uint64_t> all{s.read(0, reg::sense(0, 0))};
    for (rank_t w = 0; w < sockets::words; ++w) {
      all.push_back(s.read(0, reg::cluster(0, w, sockets::words)));
      all.push_back(s.read(0, reg::state(0, w, sockets::words)));
    }
    return all;
  };
  const std::vector<std::uint64_t> before = shown();
  constexpr rank_t last = sockets::words - 1;
  // Creates the barrier with these words of participants, `low` first, and this timeout.
  const auto creates = [&](std::uint64_t low, std::uint64_t high, std::uint64_t timeout) {
    for (rank_t w = 0; w < last; ++w)
      s.write(0, reg::cluster(0, w, sockets::words),
              (w == 0 ? low : 0) | (w == last - 1 ? high : 0));
    return expect(reg::cluster(0, last, sockets::words), timeout, reg::bad_create);
  };
  // One reason each: nobody takes part, a participant that does not exist, a timeout.
  if (std::string w = creates(0, 0, 0); !w.empty()) return "nobody takes part: " + w;
  if ((LOCAL + SOCKETS - 1) % 64 != 0)
    if (std::string w = creates(1, std::uint64_t{1} << 63, 0); !w.empty())
      return "a participant too many: " + w;
  if (std::string w = creates(1, 0, 100); !w.empty()) return "a timeout: " + w;
  // A write to a cluster that does not exist leaves the participants written so far.
  s.write(0, reg::cluster(0, 0, sockets::words), 1);
  if (std::string w = expect(reg::cluster(BARRIERS, 0, sockets::words), 0, reg::out_of_range);
      !w.empty())
    return w;
  if (shown() != before) return "a refused write changes the barrier";
  if (std::string w = expect(reg::cluster(0, last, sockets::words), 0, 0); !w.empty())
    return "behind a cluster that does not exist: " + w;
  if (std::string w = expect(reg::trigger(0, LOCAL), 1, reg::out_of_range); !w.empty()) return w;
  if (BARRIERS < 128)
    if (std::string w = expect(reg::trigger(BARRIERS, 0), 1, reg::out_of_range); !w.empty())
      return w;
  if (LOCAL > 1)
    if (std::string w = expect(reg::trigger(0, 1), 1, reg::foreign); !w.empty()) return w;
  const auto capable = reg::capabilities::of(s.read(0, reg::capability));
  if (capable.bits != LOCAL + SOCKETS - 1 || capable.barriers != BARRIERS ||
      capable.local != LOCAL || capable.words != sockets::words)
    return "wrong capabilities";
  if (s.read(0, reg::id) != reg::id_value) return "wrong identity";
  return {};
}

// A barrier that leaves out one of its threads; the checker must find it.
std::string checker_sees(testbench& bench) {
  if (LOCAL < 3) return {};
  sockets_plan p;
  p.groups = {{{0, 0}, {0, 1}}};
  sockets s(bench, p);
  test::trace t;
  // Threads 0 and 1 arrive at cycle 5; thread 2, which is not a participant, arrives at cycle 10.
  if (!s.run(1, 200)) return "stuck";
  t = s.passages(0);
  t.push_back({2, 0, t[0].leave + 5, t[0].leave + 6});
  if (test::check(t, 3, 1).empty()) return "the checker passes a thread that nobody waited for";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return run_after_reset(argc, argv, [](testbench& bench, const arguments& with) -> std::string {
    std::string wrong = lives(bench, with);
    if (wrong.empty()) wrong = misses_one(bench);
    if (wrong.empty()) wrong = refuses(bench);
    if (wrong.empty()) wrong = checker_sees(bench);
    return wrong;
  });
}
