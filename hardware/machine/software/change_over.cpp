// SPDX-License-Identifier: Apache-2.0
// Threads that meet at a barwait barrier, change to one of tutti's barriers when waits time out too
// often, and change back after some episodes (Hetland et al. 2019, section 4.1). The README has the
// protocol. In each episode they publish plain data and check what the others have published.
//
// Parameters: episodes; algorithm: tutti's barrier; delay: steps by which a late core is late;
// seed; timeout; A: a thread breaks the barrier after this number of episodes with a timeout (8 at
// most) among as many consecutive ones as the high half says; B: episodes at tutti's barrier, 2 or
// more.
#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/algorithms.hpp"
#include "hardware/machine/software/runtime.hpp"

extern "C" void timeout_entry();

namespace tutti::rtl {
namespace {

constexpr std::uint32_t most_kept = 8;

// What a thread and the handler of its timeouts share: the episode, and the last ones in which a
// wait has timed out.
struct record {
  volatile std::uint32_t episode, count, late[most_kept];
  // For the next handler.
  std::uint32_t seed;
};
alignas(cache_line) padded<record> records[MOST_CORES];
alignas(cache_line) padded<std::uint32_t> published[MOST_CORES];
// Core 0 writes it before an episode that all others end after it.
alignas(cache_line) volatile std::int32_t number;
alignas(cache_line) void* object;
gate start_gate;

std::uint32_t allowed() {
  const std::uint32_t asked = PARAMETER(PARAM_A) & 0xffffu;
  return asked < most_kept ? asked : most_kept;
}

// Returns what the kernel does about the wait.
std::uint32_t choose_after_timeout(std::uint32_t barrier, std::uint32_t missing) {
  record& mine = records[this_core()].value;
  if (barrier != static_cast<std::uint32_t>(number)) trace(TRACE_WRONG, 1);
  // This thread has arrived, and another one has not.
  if (missing == 0 || (missing >> this_core() & 1) != 0) trace(TRACE_WRONG, 2);
  // Some handlers take so long that the episode ends, and the next one times out without this core.
  random_numbers random(mine.seed);
  mine.seed = random() + random();
  const std::uint32_t kind = random() >> 16, longest = PARAMETER(PARAM_DELAY);
  if (kind % 4 == 0 && longest != 0) delay((random() >> 8) % (2 * longest));
  const std::uint32_t now = mine.episode, most = allowed();
  std::uint32_t count = mine.count;
  if (count == 0 || mine.late[(count - 1) % most] != now) {
    mine.late[count % most] = now;
    mine.count = ++count;
  }
  // The oldest one that is kept.
  const bool is_often = count >= most && now - mine.late[count % most] < PARAMETER(PARAM_A) >> 16;
  return is_often ? POLICY_BREAK : POLICY_WAIT_ON;
}

std::int32_t create() {
  std::uint8_t list[MOST_CORES];
  for (std::uint32_t i = 0; i < CORES; ++i) list[i] = static_cast<std::uint8_t>(i);
  return create_barrier(list, CORES, PARAMETER(PARAM_TIMEOUT));
}

// Work of random length. In every second phase of eight episodes a core is late in most of them,
// and otherwise seldom.
void work(std::uint32_t rank, std::uint32_t episode, random_numbers& own) {
  random_numbers common(PARAMETER(PARAM_SEED) * 1000 + episode);
  for (int i = 0; i < 4; ++i) common();
  const std::uint32_t kind = common() >> 16, who = (common() >> 16) % CORES;
  const bool is_late = kind % 8 < (episode / 8 % 2 == 1 ? 6 : 1);
  delay((own() >> 16) % 16);
  const std::uint32_t longest = PARAMETER(PARAM_DELAY);
  if (is_late && who == rank && longest != 0) delay(longest / 4 + (own() >> 16) % longest);
}

template <class Barrier>
void meet(Barrier& software, std::uint32_t rank) {
  const std::uint32_t n = CORES, episodes = PARAMETER(PARAM_EPISODES);
  record& mine = records[rank].value;
  random_numbers random(PARAMETER(PARAM_SEED) + rank);
  mine.seed = PARAMETER(PARAM_SEED) * MOST_CORES + rank;
  auto barrier = static_cast<std::uint32_t>(number);
  bool is_in_software = false;
  std::uint32_t left = 0, wrong = 0;
  for (std::uint32_t episode = 0; episode < episodes; ++episode) {
    work(rank, episode, random);
    static_cast<volatile std::uint32_t&>(published[rank].value) = episode;
    mine.episode = episode;
    trace(TRACE_ARRIVE, episode);
    if (!is_in_software && barwait(barrier) != 0) {
      // Nobody has departed from this episode, and all learn so here: it takes place in software.
      is_in_software = true;
      left = PARAMETER(PARAM_B);
      trace(TRACE_VALUE, episode << 1 | 1);
    }
    if (is_in_software) {
      --left;
      if (left == 0 && rank == 0) {
        // All have met in software, so each knows that the old barrier is broken.
        const std::uint32_t begin = cycles();
        number = create();
        trace(TRACE_VALUE, 1u << 27 | (cycles() - begin));
        if (number < 0) trace(TRACE_WRONG, 3);
      }
      software.arrive_and_wait(rank);
    }
    trace(TRACE_DEPART, episode);
    if (is_in_software && left == 0) {
      is_in_software = false;
      barrier = static_cast<std::uint32_t>(number);
      mine.count = 0;
      trace(TRACE_VALUE, (episode + 1) << 1);
    }
    // Two numbers in turn tell this episode from the next.
    for (std::uint32_t other = 0; other < n; ++other)
      wrong += static_cast<volatile std::uint32_t&>(published[other].value) - episode > 1;
  }
  if (wrong != 0) trace(TRACE_WRONG, 4);
}

template <class Barrier>
void run(std::uint32_t rank) {
  if (rank == 0) {
    empty_heap();
    object = make<Barrier>(CORES);
    number = create();
  }
  if (on_timeout(timeout_entry) != 0) trace(TRACE_WRONG, 5);
  start_gate.pass(CORES);
  meet(*static_cast<Barrier*>(object), rank);
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t timeout_handler(std::uint32_t barrier, std::uint32_t /*address*/,
                                         std::uint32_t missing) {
  return tutti::rtl::choose_after_timeout(barrier, missing);
}

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  using namespace tutti::rtl;
  with_algorithm(PARAMETER(PARAM_ALGORITHM), [core]<class Barrier>() { run<Barrier>(core); });
  return 0;
}
