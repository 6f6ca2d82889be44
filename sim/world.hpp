// SPDX-License-Identifier: Apache-2.0
// A simulated machine at work. Its threads are fibers of one thread of the host; what they do to
// memory, and what they ask of the operating system, are events in simulated time. The same seed
// gives the same run. simulated.hpp is the platform that lets tutti's templates run here.
//
//   sim::world world(machine, {.seed = 1});
//   world.run([] { ... });
//
// Memory: a line is in the cache of one core that may write it, or in those of several that may
// read it. Requests that need another core's copy wait for the line and are served one after the
// other; readers that wait together are served together. The value of a load is that at the time
// when its request is served, a store is done when the line has come to its core, and either thread
// continues when the line has come. Stores leave their thread in the order of the program while it
// goes on; a read-modify-write and a fence wait for them.
//
// Operating system: each thread stays on its CPU; threads of the same CPU take turns.
//
// Homes: a request that leaves a cluster, or any where no cache knows the copies of a cluster,
// waits until a directory of the line's home is free, and the line until its node's links are.
//
// Devices: what is no core may call functions at later times, read and write lines, keep copies of
// them, and answer threads (sim/accelerator.hpp, sim/structures.hpp).
//
// Not simulated: the time of instructions that touch no shared word; caches that are too small.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/cpu_notes.hpp"
#include "sim/events.hpp"
#include "sim/machine.hpp"
#include "sim/platform_of_fibers.hpp"
#include "src/team/fiber_context.hpp"

namespace tutti::sim {

// A time during which a thread waited, and for what.
struct waiting_time {
  enum class reason : std::uint8_t { read, change, stores, poll, sleep };
  static constexpr std::uint32_t no_core = ~std::uint32_t{0};
  std::uint32_t thread = 0, line = 0;
  // The core that had the line when the wait began.
  std::uint32_t core = no_core;
  reason why = reason::read;
  sim_time begin = 0, end = 0;
  // The operation's name, or null.
  const char* site = nullptr;
};

struct world_options {
  std::uint64_t seed = 1;
  // The pause after a poll, which belongs to the program that polls.
  sim_time poll_gap = 40'000;
  // A thread that polls a line without end sleeps until the line changes, and goes on at the time
  // of its next poll. Only for programs whose polls nothing else ends.
  bool skips_polls = false;
  // Threads start at random times within so much.
  sim_time start_within = 1'000'000;
  // Gets what the threads waited for, unless it is null.
  std::vector<waiting_time>* timeline = nullptr;
  // The participants get so many CPUs in each period of 100 ms, as by a cgroup; 0: all.
  double quota_cpus = 0;
  // The run ends with an error after so many events.
  std::uint64_t most_events = 2'000'000'000;
};

// Threads that wait for each other for ever, or a run that takes too long. what() names each thread
// and what it waits for.
class stuck : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class world {
 public:
  static constexpr unsigned most_cores = 1024;

  world(const machine& m, world_options options);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  // Runs the body as thread 0 and returns when all threads have ended. Throws what a thread throws,
  // and `stuck`. Must be called once.
  void run(std::function<void()> body);

  const machine& hardware() const noexcept { return machine_; }
  sim_time now() const noexcept { return queue_.now(); }
  std::uint64_t events() const noexcept { return events_; }
  // How often a line went from one core to another, or its copies had to be removed.
  std::uint64_t transfers() const noexcept { return transfers_; }

  // ---- for the platform. Each takes simulated time unless it says otherwise.

  // The world that runs, or null.
  static world* current() noexcept { return current_; }

  // Reads `size` bytes, at most 8.
  std::uint64_t load(const void* address, std::size_t size) noexcept;
  void store(void* address, std::uint64_t value, std::size_t size, bool drains) noexcept;
  // Returns as soon as this core may write the line; no time passes between that and the next call.
  // change_done() must follow.
  void own(const void* address) noexcept;
  // The same accesses to data of any size, whose bytes the caller reads and writes itself.
  void read_data(const void* data, std::size_t size) noexcept;
  void write_data(void* data, std::size_t size) noexcept;
  void change_done(const void* address, bool has_changed) noexcept;
  void fence() noexcept;
  // The pause between two polls.
  void relax() noexcept;
  // Waits until the line that was loaded last changes.
  void wait_for_change() noexcept;
  void spend(sim_time time) noexcept;
  // Works for so long. A thread that is woken on the same CPU displaces one that works, and so does
  // the end of a slice.
  void work(sim_time time) noexcept;
  void yield() noexcept;
  // Sleeps if the word, which is loaded, still has the value, and at most until `until`.
  void sleep(const void* word, std::size_t size, std::uint64_t seen, sim_time until) noexcept;
  void wake(const void* word, unsigned how_many) noexcept;
  // An interrupt for the CPU of a thread, whose handler begins after the way and `enter`.
  void interrupt(std::uint32_t thread, sim_time enter) noexcept;
  // Stops the running thread until the handler of an interrupt for it begins. Nothing else
  // interrupts a thread.
  void await_interrupt() noexcept;
  // Arrives in the barrier unit of the thread's cluster, and returns when so many threads of the
  // cluster have arrived.
  void meet_in_unit(unsigned participants) noexcept;
  // Starts a thread and returns its number: on the next CPU, or as another process on this CPU, for
  // which no thread waits. Takes no time.
  // Waits until the thread's stores are done, as before an access that no cache has.
  void finish_stores() noexcept;
  // Stops the running thread until a device answers it.
  void await_answer() noexcept;
  std::size_t start(std::function<void()> body);
  // The system divides a CPU among sessions first; the participants are in session 0.
  std::size_t start_process(std::function<void()> body, unsigned cpu, std::uint32_t session = 0);
  void join(std::size_t number) noexcept;

  // ---- for devices. These take no time; what they are given is called by the loop of events.

  void call_at(sim_time when, std::function<void()> what) noexcept;
  // Lets a thread that awaits an answer go on at that time.
  void answer_at(sim_time when, std::uint32_t thread) noexcept;
  // Reads a word of 8 bytes at the home of its line, after the requests before it. `done` gets the
  // value; a copy stays with the device until a core or a device begins to change the line, when
  // `lost` is called, if it is not empty.
  void device_read(const void* word, std::function<void(std::uint64_t)> done,
                   std::function<void()> lost) noexcept;
  // Writes the word to memory; `done` is called when no core has an older copy.
  void device_write(void* word, std::uint64_t value, std::function<void()> done) noexcept;
  bool device_has(const void* word) noexcept;
  // The bytes of a word as they are, whoever has the line.
  static std::uint64_t peek(const void* word) noexcept;

  // ---- these take no time
  std::size_t running() const noexcept { return running_; }
  // 0 if there is none.
  double quota_cpus() const noexcept { return options_.quota_cpus; }
  // Returns true if a stop by the quota has ended since, and notes it if it is a new one.
  bool was_stopped_by_quota(std::uint64_t began_ns, std::uint64_t now_ns) noexcept;
  const platform::quota_stops& stops_by_quota() const noexcept { return stops_by_quota_; }
  unsigned cpu() const noexcept;
  // For how long a thread has had its CPU.
  sim_time processor_time(std::uint32_t thread) const noexcept;
  // The threads that run or are ready to.
  std::uint32_t runnable() const noexcept;
  // For how long the other participants on the CPU of the running thread have had it.
  sim_time others_ran() const noexcept;
  objects_of_thread& locals() noexcept;
  // What the running thread does next, for the report of a deadlock.
  void note_site(const char* site) noexcept;
  cpu_notes& notes() noexcept;

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr sim_time forever = ~sim_time{0};
  // A run that passes it ends with an error. What is added to a time at once is less, so that no
  // sum of the two begins again at 0.
  static constexpr sim_time last_time = sim_time{1} << 63;

  // A set of cores.
  class core_set {
   public:
    bool has(unsigned core) const noexcept { return words_[core / 64] >> core % 64 & 1; }
    void add(unsigned core) noexcept { words_[core / 64] |= std::uint64_t{1} << core % 64; }
    void clear() noexcept { words_ = {}; }
    bool empty() const noexcept {
      for (const std::uint64_t word : words_)
        if (word != 0) return false;
      return true;
    }
    template <class Visit>
    void each(Visit visit) const {
      for (std::size_t i = 0; i < words_.size(); ++i)
        for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
          visit(static_cast<unsigned>(64 * i) + static_cast<unsigned>(std::countr_zero(word)));
    }

   private:
    std::array<std::uint64_t, most_cores / 64> words_{};
  };

  // The core of a device's requests.
  static constexpr std::uint32_t no_core = nobody - 1;

  // ahead: a load that the core begins before the program gets there. exclusive: a store-exclusive.
  enum class access : std::uint8_t {
    read,
    ahead,
    change,
    exclusive,
    store,
    device_read,
    device_write
  };
  // What a device's request is to do with the line.
  struct device_request {
    std::uint64_t value = 0;
    std::function<void(std::uint64_t)> read;
    std::function<void()> lost, written;
  };
  struct request {
    std::uint32_t thread;
    std::uint32_t core;
    access kind;
    // The number in device_requests_ of a device's request.
    std::uint32_t of_device;
    std::uint64_t order;
    const void* address;
    std::size_t size;
  };
  struct line_state {
    core_set copies;
    // The core that may write, or nobody.
    std::uint32_t owner = nobody;
    // The core that had it last, from which it comes.
    std::uint32_t holder = nobody;
  };
  struct line : line_state {
    std::uint32_t number = 0;
    // The directory that knows its copies.
    std::uint32_t directory = 0;
    // Counts the writes.
    std::uint64_t version = 0;
    // No request is served before this time.
    sim_time free_at = 0;
    // The line is on its way, or an event will serve the next request.
    bool in_transit = false, serve_is_due = false;
    request coming{};
    std::vector<request> waiting;
    // Threads that sleep until the line changes, because their polls are skipped.
    std::vector<std::uint32_t> pollers;
    // Threads in futex calls on a word of this line.
    std::vector<std::uint32_t> sleepers;
    // When the kernel's lock of these words is free.
    sim_time futex_free_at = 0;
    std::uint32_t futex_spinners = 0;
  };
  struct pending_store {
    line* at;
    void* address;
    std::uint64_t value;
    std::size_t size;
    bool is_asked_for;
  };

  enum class doing : std::uint8_t {
    runs,    // or has an operation under way
    works,   // and is interrupted where another thread is to have the CPU
    polls,   // sleeps until a line changes, as its polls are skipped
    sleeps,  // in a futex call
    joins,   // another thread
    halts,   // until an interrupt
    meets,   // in a barrier unit
    asks,    // a device
    ended,
  };
  struct thread;
  // The threads of a session on a CPU, and what the session has had of it.
  struct session_part {
    // Those that wait for the CPU.
    std::deque<std::uint32_t> ready;
    // The average of its threads when one left last.
    double average_left = 0;
    // The same as of a thread (thread.hpp), among the sessions of the CPU.
    double fair_time = 0, deadline = 0, ahead = 0, average_of_sessions_left = 0, weight = 1;
    // What is left of the quota that the CPU has taken, and whether there was no more.
    sim_time quota_left = 0;
    bool is_throttled = false;
  };
  struct processor {
    std::uint32_t current = nobody;
    // By session.
    std::vector<session_part> parts = std::vector<session_part>(1);
    std::uint32_t last_session = 0;
    sim_time slice_end = 0;
    // The current thread is to leave at its next operation.
    bool must_switch = false, timer_is_set = false;
    // The current thread stays until its fair time is this, while it has had no more than the
    // average; so does the last session.
    double protected_until = 0, session_protected_until = 0;
    // The average of the sessions when a thread left last.
    double average_left = 0;
    sim_time idle_since = 0, next_tick = 0;
    std::uint64_t quota_ticket = 0;
    cpu_notes notes;
  };

  struct event {
    enum class kind : std::uint8_t {
      resume,
      worked,
      arrive,
      serve,
      slice,
      displace,
      timeout,
      quota,
      call
    };
    kind what;
    std::uint32_t who;
    std::uint64_t ticket;
  };

  // ---- threads (world.cpp)
  static void begin();
  thread& me() noexcept { return *threads_[running_]; }
  // Runs events until the running thread is resumed.
  void dispatch() noexcept;
  [[noreturn]] void leave_for_good() noexcept;
  // Handles events until one resumes a thread, whose number it returns; nobody if the run is over.
  std::uint32_t next_to_run() noexcept;
  void switch_to(std::uint32_t next) noexcept;
  void resume_at(std::uint32_t who, sim_time when) noexcept;
  void give_up(const std::string& why) noexcept;
  void give_up_for_time() noexcept;
  std::string describe(std::uint32_t who) const;

  // ---- the operating system (system.cpp)
  // `by` is the CPU whose call or timer wakes the thread.
  void make_ready(std::uint32_t who, unsigned by) noexcept;
  // The current thread of a CPU stops to use it; it waits for its turn if `again`.
  void leave_cpu(processor& p, bool again) noexcept;
  void choose_next(processor& p) noexcept;
  void set_timer(processor& p) noexcept;
  // The current thread leaves its CPU if one that is ready comes before it.
  void displace(processor& p) noexcept;
  void take_cpu_away(processor& p) noexcept;
  void end_slice(std::uint32_t cpu) noexcept;
  double fair_time_of(const thread& t) const noexcept;
  double fair_time_of(const processor& p, std::uint32_t session) const noexcept;
  // Linux's EEVDF: a CPU is divided among the sessions, and a session's part among its threads, all
  // of the same weight. Of the threads that have had no more than the average, the one with the
  // earliest deadline is next. `protects`: unless the current thread is one of them and has not
  // reached its own.
  std::uint32_t pick(const processor& p, bool protects) const noexcept;
  std::uint32_t pick_session(const processor& p) const noexcept;
  void place_session(processor& p, std::uint32_t session) noexcept;
  session_part& part_of(const thread& t) noexcept;
  bool runs_for(const processor& p, std::uint32_t session) const noexcept;
  std::size_t queued(const processor& p, std::uint32_t session) const noexcept;
  bool can_run(const processor& p, std::uint32_t session) const noexcept;
  static bool has_ready(const processor& p) noexcept;
  double average_fair_time(const processor& p, std::uint32_t session) const noexcept;
  double average_of_sessions(const processor& p) const noexcept;
  bool has_quota(std::uint32_t session) const noexcept;
  void take_quota(session_part& s) noexcept;
  void return_quota(session_part& s) noexcept;
  void watch_quota(processor& p) noexcept;
  void end_quota(processor& p) noexcept;
  void begin_quota_period() noexcept;
  void begin_slice(processor& p, sim_time from) noexcept;
  sim_time wake_up_time(const processor& p) const noexcept;
  sim_time interrupted_for(sim_time time) noexcept;
  sim_time next_tick(const processor& p, sim_time from) const noexcept;
  std::size_t start_on(unsigned cpu, bool is_participant, std::uint32_t session,
                       std::function<void()> body);
  // Whether all threads but other processes wait for each other, as seen when a slice ends.
  bool nobody_gets_on() noexcept;
  // Lets the next thread of the CPU run if the running thread's slice has ended.
  void let_others_run() noexcept;
  void continue_on_cpu(std::uint32_t who, sim_time when) noexcept;
  void be_on_cpu(thread& t, bool is) noexcept;
  // A thread that works is to leave its CPU.
  void stop_work(thread& t) noexcept;
  void take_futex_lock(line& l) noexcept;
  // A system call takes up to a quarter less or more than its time. Without that two threads that
  // wait for each other's calls could do so for ever.
  sim_time call_time(sim_time time) noexcept { return scattered(time, random_); }
  static sim_time scattered(sim_time time, generator& random) noexcept;

  // ---- lines: what threads do to them (lines.cpp), and requests for them (requests.cpp)
  line& line_of(const void* address) noexcept;
  void make_room() noexcept;
  void ask(line& l, access kind, std::uint32_t who, const void* address, std::size_t size) noexcept;
  void put(line& l, const request& r) noexcept;
  void serve(line& l) noexcept;
  void serve_change(line& l, std::size_t index) noexcept;
  void serve_reads(line& l) noexcept;
  void arrive(line& l) noexcept;
  void serve_later(line& l) noexcept;
  std::size_t choose(const line& l) const noexcept;
  std::uint32_t supplier_of(const line_state& l, unsigned core) const noexcept;
  sim_time way_between(const line_times& times, const line& l, unsigned core,
                       unsigned other) const noexcept;
  sim_time way_to(const line_state& before, const line& l, unsigned core) const noexcept;
  // Occupies what a request needs from `when` on, and returns when it can go its way.
  sim_time pass_home(const line_state& before, const line& l, unsigned core,
                     sim_time when) noexcept;
  // A time of the core's own, which threads of the same core make longer.
  sim_time own_time(sim_time time) const noexcept;
  void load_ahead(line& missing) noexcept;
  void ask_for_stores(std::uint32_t who) noexcept;
  sim_time invalidation(const line& l, unsigned core) const noexcept;
  void wrote(line& l) noexcept;
  void wake_pollers(line& l, std::uint32_t except_core) noexcept;
  void wait_for_line(line& l, access kind, const void* address, std::size_t size) noexcept;
  void commit_stores(std::uint32_t who) noexcept;
  void drain() noexcept;
  void note_wait(waiting_time::reason why, const line& l, std::uint32_t core) noexcept;
  void poll_later(sim_time gap) noexcept;

  // ---- what devices do to lines (requests.cpp)
  void ask_for_device(access kind, const void* word, device_request what) noexcept;
  device_request take_device_request(std::uint32_t slot) noexcept;
  void serve_device_read(line& l, const request& r) noexcept;
  void serve_device_write(line& l, std::size_t index) noexcept;
  void take_device_copy(line& l) noexcept;
  // The time until no core has a copy, seen from the line's home.
  sim_time invalidation_from_home(const line& l) const noexcept;
  std::size_t home_of(const line& l) const noexcept;

  // ---- words in banks (lines.cpp)
  std::size_t bank_of(const line& l, const void* address) const noexcept;
  // How long a request of the running thread goes to a bank, without the time in the bank.
  sim_time way_to_bank(std::size_t bank) const noexcept;
  // Returns when the bank has done what keeps it busy for so long.
  void use_bank(line& l, const void* address, sim_time busy) noexcept;

  static inline world* current_ = nullptr;

  const machine machine_;
  const world_options options_;
  generator random_, random_slices_;
  event_queue<event> queue_;
  std::vector<std::unique_ptr<thread>> threads_;
  std::unique_ptr<thread> outside_;
  std::vector<processor> processors_;
  std::deque<line> lines_;
  // A hash table of the lines by address, a power of two in size.
  struct place {
    std::uintptr_t address = 0;
    line* at = nullptr;
  };
  std::vector<place> places_;
  // Distances between cores.
  std::vector<std::uint8_t> distances_;
  // When directories and the links of nodes are free.
  std::vector<sim_time> directories_free_at_, links_free_at_, banks_free_at_;
  // The threads that have arrived in the unit of each cluster, and when it knew of the last one.
  struct barrier_unit {
    std::vector<std::uint32_t> arrived;
    sim_time last = 0;
  };
  std::vector<barrier_unit> units_;
  // The functions of call_at(), and which of them are free.
  std::vector<std::function<void()>> calls_;
  std::vector<std::uint32_t> free_calls_;
  std::vector<device_request> device_requests_;
  std::vector<std::uint32_t> free_device_requests_;
  // What a device that has a copy of a line does when it is lost.
  std::map<const line*, std::function<void()>> device_copies_;
  // Threads that have a CPU of each core.
  std::vector<std::uint32_t> threads_on_core_;
  std::uint32_t running_ = 0;
  std::size_t ended_ = 0;
  std::uint64_t events_ = 0, requests_ = 0, transfers_ = 0;
  // A quota's period, and how much a CPU takes at once (Linux's defaults).
  static constexpr sim_time quota_period = 100'000'000'000, quota_part = 5'000'000'000;
  // What is left of the quota in this period, whether its end is due, and whether somebody has run
  // in it.
  sim_time quota_pool_ = 0;
  bool quota_is_due_ = false, quota_is_used_ = false;
  // When the last stop ended, and which one a waiter has found.
  sim_time stop_ended_at_ = 0, stop_found_ = 0;
  platform::quota_stops stops_by_quota_;
  // Ends of slices since a thread was resumed.
  std::uint64_t idle_slices_ = 0;
  std::string complaint_;
  std::exception_ptr failure_;
};

}  // namespace tutti::sim
