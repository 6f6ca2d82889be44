// SPDX-License-Identifier: Apache-2.0
// `check-teams`: the cases of tests/conformance/on_platform.hpp, with every wait policy: tutti's
// reductions, teams and events, unchanged. `rounds=N` is the number of episodes and notifications
// of each run.
#include "kernel/platform/hosted.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "tests/conformance/on_platform.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::kernel {

namespace {

// Thread t of a case runs on core t, modulo the number of cores.
class stage {
 public:
  using memory = hosted_memory;

  template <class Body>
  void on_threads(rank_t n, Body body) {
    team_threads others;
    const auto run = [](void* each, rank_t rank) { (*static_cast<Body*>(each))(rank); };
    others.start(n, platform::placement::none, run, &body);
    body(0);
    others.join();
  }
  static void spend(u64 ns) noexcept {
    const u64 end = now_ns() + ns;
    do yield();
    while (now_ns() < end);
  }
  void expect(bool holds, const auto&... what) noexcept {
    // relaxed: a count, which must not order what the cases are about.
    held_.fetch_add(holds, relaxed);
    if (holds) return;
    const holding hold(lock_);
    failed_.expect(false, what...);
  }
  bool report() noexcept {
    // relaxed: all threads have been joined.
    print("{\"type\":\"conformance\",\"expectations\":", held_.load(relaxed), "}");
    failed_.expect(held_.load(relaxed) > 0, "nothing was checked");
    return failed_.report("check-teams");
  }

 private:
  std::atomic<u64> held_{0};
  mutex lock_;
  checks failed_;
};

// Without slices a thread that polls needs a core of its own.
template <class Policy>
bool fits(rank_t threads) noexcept {
  return threads <= (Policy::info.burns_the_core ? cores() : 4 * cores());
}

template <class Policy>
void check_policy(const test::cases_on_platform<stage>& cases, u32 rounds) {
  const char* const name = Policy::info.name.data();
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 16u, 17u})
    if (fits<Policy>(n))
      cases.reduce<typename Policy::template type<hosted_memory>>(n, rounds, name);
  for (const rank_t n : {2u, 4u, 16u})
    if (fits<Policy>(n))
      cases.notify<typename Policy::template type<event_memory<hosted_memory>>>(n, rounds, name);
}

template <class... Policy>
void check_policies(const test::cases_on_platform<stage>& cases, u32 rounds,
                    std::tuple<Policy...>*) {
  (check_policy<Policy>(cases, rounds), ...);
}

}  // namespace

bool check_teams(const char* line) {
  const auto rounds = static_cast<u32>(text::number_of(line, "rounds", 10));
  stage here;
  const test::cases_on_platform cases(here);
  check_policies(cases, rounds, static_cast<registry::waits*>(nullptr));
  cases.reduce_with_a_deadline();
  for (const rank_t n : {1u, 2u, 3u, cores(), cores() + 1, 2 * cores() + 1}) cases.regions(n);
  if (cores() > 1) cases.loops(4);
  cases.failed_and_late_regions();
  return here.report();
}

}  // namespace tutti::kernel
