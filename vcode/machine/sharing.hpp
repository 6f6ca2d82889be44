// SPDX-License-Identifier: Apache-2.0
// Engine lazy's decision whether an instruction pays more than one thread.
//
// Making the threads and ending them takes some tenths of a millisecond: a start, reading the
// machine's topology, a team. So it is not done before the run has had work for them and has taken
// so long that this is a small part of its time. A single instruction of some milliseconds, such as
// a chain of loops over ten million elements, pays at once: it may be the whole program. Later, an
// instruction is shared unless other processes leave no CPU, or regions have lately taken longer
// than one thread alone would have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti::vcode {

class sharing_decision {
 public:
  enum class threads : std::uint8_t { none, being_made, made };
  // A region may be shared before the threads of a team are there.
  enum class verdict : std::uint8_t { alone, make_threads, make_and_share, share };

  // has_cpus(mine, wanted) tells whether the machine has CPUs for `wanted` threads of this process,
  // of which `mine` are running now; it may be null.
  using cpu_question = bool (*)(unsigned mine, unsigned wanted);

  explicit sharing_decision(cpu_question has_cpus) : has_cpus_(has_cpus) {}
  // Threads are made when the run has had this much work for them, elements times instructions,
  // and this much time since the first of it.
  explicit sharing_decision(std::size_t work_before_threads = 0,
                            std::uint64_t ns_before_threads = 0, cpu_question has_cpus = nullptr)
      : work_before_threads_(work_before_threads),
        ns_before_threads_(ns_before_threads),
        has_cpus_(has_cpus) {}

  // True while there is no need to decide anew, so that the caller need not read the clock: the
  // program works alone although it has threads or work for them, and has done little since.
  bool stays_alone(std::size_t work) {
    constexpr std::size_t little = std::size_t{1} << 20;
    return is_kept_alone_ && (skipped_ += work) < little;
  }

  // For an instruction with this much work, and `wanted` threads in all.
  verdict decide(std::size_t work, threads now_there, unsigned wanted, std::uint64_t now) {
    const bool pays_at_once = work >= work_before_threads_ / 2;
    if (now_there == threads::being_made) return pays_at_once ? verdict::share : verdict::alone;
    const bool is_time = now_there == threads::none && has_had_enough(work, now);
    if (now_there == threads::none && !is_time && !pays_at_once) return verdict::alone;
    skipped_ = 0;
    is_kept_alone_ = (pause_ns_ != 0 && now < alone_until_) || !have_cpus(now_there, wanted, now);
    if (is_kept_alone_) return verdict::alone;
    if (!is_time) return verdict::share;
    return pays_at_once ? verdict::make_and_share : verdict::make_threads;
  }

  // A region of `parts` parts, of which the caller executed `mine` in `mine_ns`.
  struct region {
    unsigned mine, parts;
    std::uint64_t mine_ns, all_ns;
  };
  // Compares regions with the time that the caller would have needed for all their parts. Without a
  // CPU for a thread, or with regions too small, sharing costs time: the program then goes on alone
  // for some milliseconds, twice as long each time that it happens again soon.
  void note_region(const region& r, std::uint64_t ended) {
    constexpr std::uint64_t enough_ns = 500'000, least_ns = 2'000'000, most_ns = 128'000'000;
    if (r.mine == 0) return;
    alone_ns_ += r.mine_ns * r.parts / r.mine;
    shared_ns_ += r.all_ns;
    if (shared_ns_ < enough_ns) return;
    if (shared_ns_ > alone_ns_) {
      pause_ns_ = std::clamp(2 * pause_ns_, least_ns, most_ns);
      alone_until_ = ended + pause_ns_;
    } else if (pause_ns_ != 0 && ended > alone_until_ + 4 * pause_ns_) {
      pause_ns_ = 0;
    }
    alone_ns_ = shared_ns_ = 0;
  }

 private:
  // Without threads yet: has the run had work enough for them, and lasted long enough?
  bool has_had_enough(std::size_t work, std::uint64_t now) {
    if (work_ == 0) began_ = now;
    work_ += work;
    return work_ >= work_before_threads_ && now - began_ >= ns_before_threads_;
  }

  // Asks from time to time, and less often while the answer is no. Beside other processes that
  // leave no CPU, a region would wait for a thread that does not run.
  bool have_cpus(threads now_there, unsigned wanted, std::uint64_t now) {
    constexpr std::uint64_t least_ns = 4'000'000, most_ns = 32'000'000;
    if (has_cpus_ == nullptr) return true;
    if (now < ask_again_) return answer_;
    // The other threads poll for the next region if the last one was recent.
    const unsigned mine = now_there == threads::made && answer_ ? wanted : 1;
    answer_ = has_cpus_(mine, wanted);
    interval_ns_ = answer_ ? 0 : std::clamp(2 * interval_ns_, least_ns, most_ns);
    ask_again_ = now + std::max(interval_ns_, least_ns);
    return answer_;
  }

  // About four milliseconds of work.
  std::size_t work_before_threads_ = std::size_t{1} << 25;
  std::uint64_t ns_before_threads_ = 4'000'000;
  cpu_question has_cpus_;
  std::size_t work_ = 0;
  std::uint64_t began_ = 0;
  // What regions that have not been judged yet would have taken alone, and what they took.
  std::uint64_t alone_ns_ = 0, shared_ns_ = 0;
  std::uint64_t pause_ns_ = 0, alone_until_ = 0;
  bool is_kept_alone_ = false;
  // The work since then.
  std::size_t skipped_ = 0;
  bool answer_ = false;
  // The interval before the next question while the answer is no.
  std::uint64_t interval_ns_ = 0;
  std::uint64_t ask_again_ = 0;
};

}  // namespace tutti::vcode
