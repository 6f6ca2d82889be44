// SPDX-License-Identifier: Apache-2.0
// Engine lazy's decision whether an instruction pays more than one thread.
//
// Making the threads takes about a millisecond: reading the machine's topology, and a start. So it
// is not done before the run has had several milliseconds of work for them, and another thread
// reads the topology meanwhile. A single instruction of some milliseconds, such as a chain of loops
// over ten million elements, pays at once: it may be the whole program. Later, an instruction is
// shared unless other processes leave no CPU, or a thread that lost its CPU has just held up the
// others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti::vcode {

class sharing_decision {
 public:
  enum class threads : std::uint8_t { none, being_made, made };
  enum class verdict : std::uint8_t { alone, make_threads, share };

  // Threads are made when the run has had this much work for them, elements times instructions.
  // has_cpus(mine, wanted) tells whether the machine has CPUs for `wanted` threads of this process,
  // of which `mine` are running now; it may be null.
  explicit sharing_decision(std::size_t work_before_threads = 0,
                            bool (*has_cpus)(unsigned mine, unsigned wanted) = nullptr)
      : work_before_threads_(work_before_threads), has_cpus_(has_cpus) {}

  // For an instruction with this much work, and `wanted` threads in all.
  verdict decide(std::size_t work, threads now_there, unsigned wanted, std::uint64_t now) {
    const bool pays_at_once = work >= work_before_threads_ / 2;
    if (now_there == threads::being_made) return pays_at_once ? verdict::share : verdict::alone;
    if (now_there == threads::none && (work_ += work) < work_before_threads_ && !pays_at_once)
      return verdict::alone;
    if (pause_ns_ != 0 && now < alone_until_) return verdict::alone;
    if (!have_cpus(now_there, wanted, now)) return verdict::alone;
    return now_there == threads::made || pays_at_once ? verdict::share : verdict::make_threads;
  }

  // The caller's part of an instruction took `mine_ns` and ended at `mine_ended`; all parts had
  // ended at `ended`. A thread that loses its CPU inside a part holds up the caller by a slice of
  // the scheduler. Where that happens, the program goes on alone for some milliseconds, twice as
  // long each time that it happens again soon.
  void note_region(std::uint64_t mine_ns, std::uint64_t mine_ended, std::uint64_t ended) {
    constexpr std::uint64_t slice_ns = 500'000, least_ns = 2'000'000, most_ns = 128'000'000;
    const std::uint64_t waited = ended - mine_ended;
    if (waited > std::max(slice_ns, mine_ns)) {
      pause_ns_ = std::clamp(2 * pause_ns_, least_ns, most_ns);
      alone_until_ = ended + pause_ns_;
    } else if (pause_ns_ != 0 && ended > alone_until_ + 4 * pause_ns_) {
      pause_ns_ = 0;
    }
  }

 private:
  // Asks from time to time. Beside other processes that leave no CPU, a region would wait for a
  // thread that does not run.
  bool have_cpus(threads now_there, unsigned wanted, std::uint64_t now) {
    constexpr std::uint64_t interval_ns = 4'000'000;
    if (has_cpus_ == nullptr) return true;
    if (now < ask_again_) return answer_;
    // The other threads poll for the next region if the last one was recent.
    const unsigned mine = now_there == threads::made && answer_ ? wanted : 1;
    answer_ = has_cpus_(mine, wanted);
    ask_again_ = now + interval_ns;
    return answer_;
  }

  std::size_t work_before_threads_;
  bool (*has_cpus_)(unsigned mine, unsigned wanted);
  std::size_t work_ = 0;
  std::uint64_t pause_ns_ = 0, alone_until_ = 0;
  bool answer_ = false;
  std::uint64_t ask_again_ = 0;
};

}  // namespace tutti::vcode
