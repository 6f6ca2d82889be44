// SPDX-License-Identifier: Apache-2.0
// Patience: one of two threads comes 1 ms late, again and again. What does waiting cost the other one, and how long after
// the last arrival does it go on?

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

// A core each, where there are two: threads that share one hand it on, whatever their patience.
void stay_on_core_of(tutti::rank_t rank) {
  static const auto cpus = tutti::platform::cpus_for(tutti::platform::placement::compact);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(cpus[rank % cpus.size()], &mine);
  sched_setaffinity(0, sizeof mine, &mine);
}

void meet_with_a_late_one(const char* name, tutti::patience patience) {
  constexpr int meetings = 50;
  tutti::barrier sync(2, tutti::barrier_options{.patience = patience});
  steady_clock::time_point arrival;  // of the late one; published by the barrier

  stay_on_core_of(0);
  std::jthread late([&] {
    stay_on_core_of(1);
    for (int i = 0; i < meetings; ++i) {
      const auto until = steady_clock::now() + std::chrono::milliseconds(1);
      while (steady_clock::now() < until) {
      }
      arrival = steady_clock::now();
      sync.arrive_and_wait(1);  // the other one may go on
      sync.arrive_and_wait(1);  // it has read `arrival`
    }
  });
  const double before = processor_us();
  std::array<double, meetings> after_us;
  for (double& after : after_us) {
    sync.arrive_and_wait(0);
    after = microseconds(steady_clock::now() - arrival).count();
    sync.arrive_and_wait(0);
  }
  std::ranges::sort(after_us);
  std::printf("%-8s  %7.1f us of processor time a wait, goes on after %4.1f us (median)\n", name,
              (processor_us() - before) / meetings, after_us[meetings / 2]);
}

}  // namespace

int main() {
  using namespace std::chrono_literals;
  meet_with_a_late_one("active", tutti::patience::active());      // the fastest answer
  meet_with_a_late_one("2ms", 2ms);                               // longer than it will take
  meet_with_a_late_one("balanced", tutti::patience::balanced());  // the default
  meet_with_a_late_one("passive", "passive");                     // as text, from an option
}
