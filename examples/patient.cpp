// SPDX-License-Identifier: Apache-2.0
// Patience: one of two threads always comes 1 ms late. The example prints how much processor time
// each wait costs the other thread, and how long after the late arrival it continues.

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/topology.hpp"

namespace {

using std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

double processor_us() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return 1e6 * static_cast<double>(used.tv_sec) + 1e-3 * static_cast<double>(used.tv_nsec);
}

// Gives each thread a core if there are two. Threads that share a core yield it to each other,
// whatever their patience is.
void stay_on_core_of(tutti::rank_t rank) {
  static const auto cpus = tutti::platform::cpus_for(tutti::platform::placement::compact);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(cpus[rank % cpus.size()], &mine);
  sched_setaffinity(0, sizeof mine, &mine);
}

void meet_with_a_late_one(const char* name, tutti::patience patience) {
  constexpr int episodes = 50;
  tutti::barrier sync(2, tutti::barrier_options{.patience = patience});
  // The time at which the late thread arrived. The barrier publishes it.
  steady_clock::time_point arrival;

  stay_on_core_of(0);
  std::jthread late([&] {
    stay_on_core_of(1);
    for (int i = 0; i < episodes; ++i) {
      const auto until = steady_clock::now() + std::chrono::milliseconds(1);
      while (steady_clock::now() < until) {
      }
      arrival = steady_clock::now();
      // The other thread continues after the first call, and has read `arrival` before the second.
      sync.arrive_and_wait(1);
      sync.arrive_and_wait(1);
    }
  });
  const double before = processor_us();
  std::array<double, episodes> after_us;
  for (double& after : after_us) {
    sync.arrive_and_wait(0);
    after = microseconds(steady_clock::now() - arrival).count();
    sync.arrive_and_wait(0);
  }
  std::ranges::sort(after_us);
  std::printf("%-8s  %7.1f µs of processor time per wait, continues after %4.1f µs (median)\n",
              name, (processor_us() - before) / episodes, after_us[episodes / 2]);
}

}  // namespace

int main() {
  using namespace std::chrono_literals;
  // The first never sleeps, the second polls longer than the wait takes, the third is the default,
  // and the fourth is given as text, which may come from an option.
  meet_with_a_late_one("active", tutti::patience::active());
  meet_with_a_late_one("2ms", 2ms);
  meet_with_a_late_one("balanced", tutti::patience::balanced());
  meet_with_a_late_one("passive", "passive");
}
