// SPDX-License-Identifier: Apache-2.0
// The engines on a team of any platform: which threads interpret, and which help.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/team/team.hpp"
#include "vcode/io/file_table.hpp"
#include "vcode/machine/clock.hpp"
#include "vcode/machine/host.hpp"
#include "vcode/machine/interpreter.hpp"
#include "vcode/machine/random_stream.hpp"
#include "vcode/machine/sharing.hpp"
#include "vcode/machine/timeline.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode::engines {

// What all threads of a run share.
struct shared_run {
  shared_run(program verified, std::vector<vector_value> given, const run_options& how,
             clock_function* now_ns)
      : code(std::move(verified)),
        inputs(std::move(given)),
        options(how),
        own_memory(how.kept != nullptr ? nullptr : std::make_unique<arena>(how.memory)),
        memory(how.kept != nullptr ? how.kept->arena() : *own_memory),
        files(how.input, how.output, how.error),
        clock(now_ns) {
    const program_data& data = code.data();
    require_inputs(data.functions[data.entry], inputs);
    prepared = prepare(data);
  }

  program code;
  std::vector<vector_value> inputs;
  run_options options;
  prepared_program prepared;
  std::unique_ptr<arena> own_memory;
  arena& memory;
  file_table files;
  run_result result;
  std::optional<timeline> times;
  clock_function* clock;

  void start_timeline(unsigned ranks) {
    if (options.trace != nullptr) times.emplace(ranks, clock);
  }
};

// Runs one interpreter from beginning to end.
template <class MakeExecutor>
void interpret(shared_run& shared, bool is_first, std::size_t defer, MakeExecutor&& make_executor) {
  run_statistics statistics;
  store memory(shared.memory);
  executor workers = make_executor(statistics, memory.memory());
  if (workers.is_spmd()) memory.count_for(workers.size());
  random_stream random;
  run_options options = shared.options;
  if (!is_first) options.trace = nullptr;
  context c{memory, workers, statistics, options, random, shared.files, shared.clock, 0, defer};
  interpreter machine(shared.prepared, c);
  if (shared.times) machine.stamp_traces(*shared.times);
  const bool finished = machine.run(shared.inputs);
  if (!is_first) return;
  shared.result.exited = !finished;
  if (finished && options.result != nullptr) {
    machine.print_stack(options.result);
  } else if (finished) {
    shared.result.stack = machine.stack();
  }
  statistics.arena_peak = memory.memory().peak();
  shared.memory.touch(statistics.arena_peak);
  shared.result.statistics = statistics;
}

// How many parts of a region the caller has executed, and when it had ended the last.
struct own_share {
  unsigned parts = 0;
  std::uint64_t ended = 0;
};

// What a run does before it has a team, with threads of its own (first_threads.hpp).
class preparation {
 public:
  virtual ~preparation() = default;
  // Begins what takes long before a team can be made, beside the program's own work.
  virtual void begin() = 0;
  virtual bool is_done() = 0;
  // Executes a region without a team.
  virtual own_share region(unsigned parts, void (*phase)(void* object, unsigned part),
                           void* object) = 0;
};

// A team that is made at the first region.
template <class Memory>
class team_threads final : public executor_threads {
  using team = basic_team<Memory>;
  using state = sharing_decision::threads;

 public:
  explicit team_threads(team& given) : team_(&given) {}
  // `before` may be null.
  team_threads(team_options how, sharing_decision decision, preparation* before)
      : decision_(decision), how_(std::move(how)), before_(before) {}

  team& made() {
    if (team_ == nullptr) team_ = &own_.emplace(how_);
    return *team_;
  }
  // The number of ranks that the team has or will have.
  unsigned size() {
    if (team_ != nullptr) return team_->size();
    const unsigned wanted = how_.ranks != 0 ? how_.ranks : how_.threads;
    return wanted != 0 ? wanted : made().size();
  }
  void region(unsigned parts, void (*phase)(void* object, unsigned part), void* object) override {
    const std::uint64_t began = Memory::now_ns();
    const bool has_team = before_ == nullptr || threads_now() == state::made;
    const own_share mine =
        has_team ? team_region(parts, phase, object) : before_->region(parts, phase, object);
    const std::uint64_t ended = Memory::now_ns();
    decision_.note_region({mine.parts, parts, mine.ended - began, ended - began}, ended);
  }
  // The end of a region is a barrier.
  void barrier(const run_statistics&) override {}
  bool is_worth_sharing(std::size_t work) override {
    using verdict = sharing_decision::verdict;
    if (decision_.stays_alone(work)) return false;
    const verdict what = decision_.decide(work, threads_now(), size(), Memory::now_ns());
    is_long_ = work >= long_work;
    const bool is_time = what == verdict::make_threads || what == verdict::make_and_share;
    if (is_time && before_ != nullptr) {
      before_->begin();
      is_preparing_ = true;
    }
    return what == verdict::share || what == verdict::make_and_share ||
           (is_time && before_ == nullptr);
  }

 private:
  own_share team_region(unsigned parts, void (*phase)(void* object, unsigned part), void* object) {
    own_share mine;
    const auto work = [=, &mine](basic_member<Memory>& me, std::size_t from, std::size_t to) {
      for (std::size_t part = from; part < to; ++part) phase(object, static_cast<unsigned>(part));
      // Thread 0 is the caller.
      if (me.thread() != 0) return;
      mine.parts += static_cast<unsigned>(to - from);
      mine.ended = Memory::now_ns();
    };
    if (is_long_ && made().size() == parts) {
      // A loop measures its first part before it wakes anybody: half of the work if there are two.
      made().run([&](basic_member<Memory>& me) { work(me, me.rank(), me.rank() + 1); });
    } else {
      made().parallel_parts(0, parts, work, {.kind = loop::static_blocks});
    }
    return mine;
  }

  state threads_now() const {
    if (team_ != nullptr) return state::made;
    if (!is_preparing_) return state::none;
    // The next region makes the team.
    return before_->is_done() ? state::made : state::being_made;
  }

  // Some hundred microseconds of work, many times what it takes to wake a thread.
  static constexpr std::size_t long_work = std::size_t{1} << 21;

  sharing_decision decision_;
  bool is_long_ = false;
  team* team_ = nullptr;
  team_options how_;
  preparation* before_ = nullptr;
  bool is_preparing_ = false;
  std::optional<team> own_;
};

// Wraps executor_threads for traces: records when each rank worked and when it waited, and prints
// that at the end.
class timed_threads final : public executor_threads {
 public:
  timed_threads(executor_threads& behind, unsigned rank, timeline& times)
      : behind_(behind), rank_(rank), times_(times) {}
  void region(unsigned parts, void (*phase)(void* object, unsigned part), void* object) override {
    struct timed {
      void (*phase)(void* object, unsigned part);
      void* object;
      timeline& times;
    } call{phase, object, times_};
    behind_.region(
        parts,
        [](void* given, unsigned part) {
          const timed& t = *static_cast<timed*>(given);
          const double begin = t.times.now();
          t.phase(t.object, part);
          t.times.add(part, timeline::kind::phase, begin);
        },
        &call);
  }
  void barrier(const run_statistics& done) override {
    const double begin = times_.now();
    behind_.barrier(done);
    times_.add(rank_, timeline::kind::barrier, begin);
  }
  bool is_worth_sharing(std::size_t work) override { return behind_.is_worth_sharing(work); }

 private:
  executor_threads& behind_;
  unsigned rank_;
  timeline& times_;
};

// One of several threads that all interpret.
class spmd_threads final : public executor_threads {
 public:
  spmd_threads(spmd_run::rank_barrier& all, unsigned rank) : all_(all), rank_(rank) {}
  void region(unsigned parts, void (*phase)(void* object, unsigned part), void* object) override {
    if (rank_ < parts) phase(object, rank_);
    all_.arrive_and_wait(rank_);
  }
  void barrier(const run_statistics& done) override {
    all_.note_work(rank_, done);
    all_.arrive_and_wait(rank_);
  }

 private:
  spmd_run::rank_barrier& all_;
  unsigned rank_;
};

template <class Memory>
class member_barrier final : public spmd_run::rank_barrier {
 public:
  explicit member_barrier(basic_member<Memory>& me) : me_(me) {}
  void arrive_and_wait(unsigned) override { me_.barrier(); }

 private:
  basic_member<Memory>& me_;
};

inline void interpret_spmd(shared_run& shared, spmd_board& board, unsigned ranks, unsigned rank,
                           spmd_run::rank_barrier& all) {
  spmd_threads mine(all, rank);
  std::optional<timed_threads> timed;
  if (shared.times) timed.emplace(mine, rank, *shared.times);
  executor_threads& threads = timed ? static_cast<executor_threads&>(*timed) : mine;
  interpret(shared, rank == 0, 0, [&](run_statistics& statistics, allocator& memory) {
    return executor(statistics, threads, ranks, rank, board, memory);
  });
}

template <class Memory>
void run_spmd(shared_run& shared, basic_team<Memory>& threads) {
  shared.start_timeline(threads.size());
  spmd_board board(threads.size());
  threads.run([&](basic_member<Memory>& me) {
    member_barrier<Memory> all(me);
    interpret_spmd(shared, board, me.size(), me.rank(), all);
  });
}

template <class Memory>
void run_master(shared_run& shared, team_threads<Memory>& threads) {
  const run_options& how = shared.options;
  const bool is_lazy = how.engine == engine::lazy;
  const unsigned size = threads.size();
  shared.start_timeline(size);
  std::optional<timed_threads> timed;
  if (shared.times) timed.emplace(threads, 0, *shared.times);
  executor_threads& behind = timed ? static_cast<executor_threads&>(*timed) : threads;
  interpret(shared, true, is_lazy ? how.defer_from : 0,
            [&](run_statistics& statistics, allocator&) {
              return is_lazy && size == 1
                         ? executor(statistics)
                         : executor(statistics, behind, size, is_lazy ? how.share_from : 0);
            });
}

template <class Memory>
run_result run(const program& code, std::vector<vector_value> inputs, const run_options& options,
               team_threads<Memory>& threads) {
  shared_run shared(code, std::move(inputs), options, &Memory::now_ns);
  if (options.engine == engine::spmd)
    run_spmd(shared, threads.made());
  else
    run_master(shared, threads);
  if (shared.times) shared.times->print(options.trace);
  return std::move(shared.result);
}

}  // namespace tutti::vcode::engines
