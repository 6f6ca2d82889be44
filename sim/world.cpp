// SPDX-License-Identifier: Apache-2.0
// Threads of a simulated machine, its operating system, and the loop that handles events.
#include "sim/world.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sim/thread.hpp"

namespace tutti::sim {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

handled_exceptions& exceptions_here() noexcept {
  return *reinterpret_cast<handled_exceptions*>(abi::__cxa_get_globals());
}

}  // namespace

world::world(const machine& m, world_options options)
    : machine_(m),
      options_(options),
      random_(options.seed),
      random_slices_(~options.seed),
      outside_(std::make_unique<thread>()),
      processors_(m.cpus()) {
  const unsigned cores = machine_.all_cores();
  if (cores > most_cores)
    throw std::invalid_argument("a simulated machine has at most " + std::to_string(most_cores) +
                                " cores, not " + std::to_string(cores));
  for (unsigned a = 0; a < cores; ++a)
    for (unsigned b = 0; b < cores; ++b)
      distances_.push_back(static_cast<std::uint8_t>(machine_.distance(a, b)));
  directories_free_at_.resize(std::size_t{machine_.nodes} * machine_.directories);
  links_free_at_.resize(machine_.nodes);
  banks_free_at_.resize(std::size_t{machine_.nodes} * machine_.clusters * machine_.banks);
  units_.resize(machine_.cluster_of_core(cores - 1) + 1);
  threads_on_core_.resize(cores);
  // The clock begins late enough for differences of times to be positive.
  queue_.skip_to(picoseconds(1e9));
}
world::~world() = default;

// ---- threads

void world::run(std::function<void()> body) {
  current_ = this;
  start(std::move(body));
  outside_->handled = std::exchange(exceptions_here(), {});
  const std::uint32_t first = next_to_run();
  running_ = first;
  exceptions_here() = threads_[first]->handled;
  outside_->at.leave_for(threads_[first]->at);
  exceptions_here() = outside_->handled;
  current_ = nullptr;
  // Threads that wait for one that has thrown are no news.
  if (failure_) std::rethrow_exception(failure_);
  if (!complaint_.empty()) throw stuck(complaint_);
}

std::size_t world::start(std::function<void()> body) {
  return start_on(static_cast<unsigned>(threads_.size()) % machine_.cpus(), true, std::move(body));
}

std::size_t world::start_process(std::function<void()> body, unsigned cpu) {
  return start_on(cpu, false, std::move(body));
}

std::size_t world::start_on(unsigned cpu, bool is_participant, std::function<void()> body) {
  auto made = std::make_unique<thread>();
  made->is_participant = is_participant;
  made->stack.reset(new char[stack_bytes]);
  made->body = std::move(body);
  made->number = static_cast<std::uint32_t>(threads_.size());
  made->cpu = cpu;
  made->core = machine_.core_of_cpu(made->cpu);
  // The stack grows downwards. Stacks that begin at the same place of a page share cache sets.
  const std::size_t colour = made->number % 32 * 128;
  const auto top = (reinterpret_cast<std::uintptr_t>(made->stack.get() + stack_bytes) - colour) &
                   ~std::uintptr_t{15};
  made->at.prepare(reinterpret_cast<void*>(top), stack_bytes - 16 - colour, &begin);
  made->has_work = true;
  threads_.push_back(std::move(made));
  thread& t = *threads_.back();
  processor& p = processors_[t.cpu];
  t.fair_time = average_fair_time(p);
  t.deadline = t.fair_time + static_cast<double>(machine_.slice);
  if (p.current == nobody && p.ready.empty()) {
    const sim_time skew = options_.start_within == 0 ? 0 : random_.below(options_.start_within);
    p.current = t.number;
    begin_slice(p, now() + skew);
    continue_on_cpu(t.number, now() + skew);
  } else {
    p.ready.push_back(t.number);
    set_timer(p);
  }
  return t.number;
}

void world::begin() {
  world& w = *current_;
  try {
    w.me().body();
  } catch (...) {
    if (!w.failure_) w.failure_ = std::current_exception();
  }
  w.leave_for_good();
}

void world::leave_for_good() noexcept {
  drain();
  thread& t = me();
  t.state = doing::ended;
  ++ended_;
  for (const std::uint32_t other : t.joiners) make_ready(other);
  leave_cpu(processors_[t.cpu], false);
  switch_to(next_to_run());
  __builtin_unreachable();
}

void world::join(std::size_t number) noexcept {
  thread& t = me();
  thread& other = *threads_[number];
  if (other.state == doing::ended) return;
  t.state = doing::joins;
  t.joins = other.number;
  t.since = now();
  other.joiners.push_back(t.number);
  leave_cpu(processors_[t.cpu], false);
  dispatch();
}

void world::spend(sim_time time) noexcept {
  let_others_run();
  const sim_time until = now() + time + interrupted_for(time);
  if (!queue_.skip_to(until)) {
    resume_at(running_, until);
    return dispatch();
  }
  if (++events_ <= options_.most_events) return;
  // It polls alone.
  give_up("the threads do not get anywhere");
  dispatch();
}

void world::work(sim_time time) noexcept {
  let_others_run();
  thread& t = me();
  t.loads = t.others = 0;
  t.loaded_last = nullptr;
  t.state = doing::works;
  t.work_left = time;
  continue_on_cpu(t.number, now());
  dispatch();
}

void world::resume_at(std::uint32_t who, sim_time when) noexcept {
  queue_.at(when, {event::kind::resume, who, 0});
}

void world::dispatch() noexcept {
  const std::uint32_t next = next_to_run();
  if (next != running_) switch_to(next);
}

void world::switch_to(std::uint32_t next) noexcept {
  thread& from = me();
  thread& to = next == nobody ? *outside_ : *threads_[next];
  from.handled = exceptions_here();
  exceptions_here() = to.handled;
  if (next != nobody) running_ = next;
  from.at.leave_for(to.at);
}

std::uint32_t world::next_to_run() noexcept {
  for (;;) {
    if (ended_ == threads_.size() || !complaint_.empty()) return nobody;
    if (queue_.empty()) {
      give_up("all threads wait for each other");
      continue;
    }
    const event e = queue_.take();
    if (++events_ > options_.most_events) give_up("the threads do not get anywhere");
    switch (e.what) {
      case event::kind::resume: idle_slices_ = 0; return e.who;
      case event::kind::worked: {
        thread& t = *threads_[e.who];
        if (t.state != doing::works || t.work_ticket != e.ticket) break;
        t.state = doing::runs;
        if (t.is_participant)
          idle_slices_ = 0;
        else if (nobody_gets_on())
          break;
        return e.who;
      }
      case event::kind::arrive: {
        line& l = lines_[e.who];
        const request r = l.coming;
        arrive(l);
        // Nothing comes between the line's arrival and the change.
        if (r.kind == access::change || r.kind == access::exclusive) return r.thread;
        break;
      }
      case event::kind::serve:
        lines_[e.who].serve_is_due = false;
        serve(lines_[e.who]);
        break;
      case event::kind::slice: end_slice(e.who); break;
      case event::kind::displace: displace(processors_[e.who]); break;
      case event::kind::call: {
        const std::function<void()> what = std::move(calls_[e.who]);
        free_calls_.push_back(e.who);
        what();
        break;
      }
      case event::kind::timeout: {
        thread& t = *threads_[e.who];
        if (t.state != doing::sleeps || t.timeout_ticket != e.ticket) break;
        std::erase(line_of(t.sleeps_on).sleepers, e.who);
        make_ready(e.who);
        break;
      }
    }
  }
}

void world::give_up(const std::string& why) noexcept {
  complaint_ = why + ", after " + std::to_string(nanoseconds(now()) / 1e3 - 1e6) +
               " us of simulated time (seed " + std::to_string(options_.seed) + "):";
  for (std::uint32_t i = 0; i < threads_.size(); ++i) complaint_ += "\n  " + describe(i);
}

std::string world::describe(std::uint32_t who) const {
  const thread& t = *threads_[who];
  std::string text = "thread " + std::to_string(who) + " on CPU " + std::to_string(t.cpu) + " ";
  const auto at = [&](const line& l) {
    return "line " + std::to_string(l.number) +
           (t.site == nullptr ? std::string() : " (" + std::string(t.site) + ")");
  };
  if (t.state == doing::ended) return text + "has ended";
  if (t.state == doing::joins)
    return text + "waits for thread " + std::to_string(t.joins) + " to end";
  if (t.state == doing::halts) return text + "waits for an interrupt";
  if (t.state == doing::asks)
    return text + "waits for a device's answer, since " +
           std::to_string(nanoseconds(now() - t.since) / 1e3) + " us";
  if (t.state == doing::meets) {
    const barrier_unit& unit = units_[machine_.cluster_of_core(t.core)];
    return text + "waits in its cluster's barrier unit, where " +
           std::to_string(unit.arrived.size()) + " have arrived";
  }
  if (t.state == doing::sleeps)
    text += "sleeps in a futex call until another thread wakes it, " + at(*t.polled);
  else if (t.state == doing::polls)
    text += "polls " + at(*t.polled) + ", where it reads " + std::to_string(t.value);
  else if (t.drains)
    text += "waits until its stores are done, " + at(*t.stores.front().at);
  else if (t.waits_for != nullptr)
    text += std::string("waits to ") + (t.wants == access::read ? "read " : "change ") +
            at(*t.waits_for);
  else
    return text + (t.is_on_cpu ? "runs" : "waits for the CPU") +
           (t.polled == nullptr ? std::string() : ", it last read " + at(*t.polled));
  return text + ", since " + std::to_string(nanoseconds(now() - t.since) / 1e3) + " us" +
         (t.is_on_cpu || t.state == doing::sleeps ? "" : ", while another thread has its CPU");
}

unsigned world::cpu() const noexcept { return threads_[running_]->cpu; }

sim_time world::processor_time(std::uint32_t who) const noexcept {
  const thread& t = *threads_[who];
  return t.ran + (t.is_on_cpu ? now() - t.on_cpu_since : 0);
}

sim_time world::others_ran() const noexcept {
  sim_time ran = 0;
  for (const auto& t : threads_)
    if (t->is_participant && t->cpu == cpu() && t->number != running_)
      ran += processor_time(t->number);
  return ran;
}

std::uint32_t world::runnable() const noexcept {
  std::size_t count = 0;
  for (const processor& p : processors_) count += p.ready.size() + (p.current == nobody ? 0u : 1u);
  return static_cast<std::uint32_t>(count);
}

objects_of_thread& world::locals() noexcept { return me().locals; }

void world::note_site(const char* site) noexcept { me().site = site; }

cpu_notes& world::notes() noexcept { return processors_[me().cpu].notes; }

// ---- interrupts

void world::interrupt(std::uint32_t who, sim_time enter) noexcept {
  thread& t = *threads_[who];
  const sim_time way =
      machine::at_distance(machine_.interrupt_way, machine_.distance(me().core, t.core));
  const sim_time begins = now() + way + enter;
  if (t.state != doing::halts) {
    t.interrupts.push_back(begins);
    return;
  }
  t.state = doing::runs;
  resume_at(who, begins);
}

void world::await_interrupt() noexcept {
  thread& t = me();
  t.loads = t.others = 0;
  t.loaded_last = nullptr;
  if (!t.interrupts.empty()) {
    const sim_time begins = t.interrupts.front();
    t.interrupts.pop_front();
    if (begins > now()) spend(begins - now());
    return;
  }
  t.state = doing::halts;
  t.since = now();
  dispatch();
}

void world::meet_in_unit(unsigned participants) noexcept {
  drain();
  thread& t = me();
  t.loads = t.others = 0;
  t.loaded_last = nullptr;
  barrier_unit& unit = units_[machine_.cluster_of_core(t.core)];
  unit.last = std::max(unit.last, now() + machine_.unit_arrive);
  unit.arrived.push_back(t.number);
  t.state = doing::meets;
  t.since = now();
  if (unit.arrived.size() == participants) {
    for (const std::uint32_t who : unit.arrived) {
      threads_[who]->state = doing::runs;
      resume_at(who, unit.last + machine_.unit_leave);
    }
    unit = {};
  }
  dispatch();
}

// ---- devices

void world::finish_stores() noexcept {
  thread& t = me();
  t.loads = t.others = 0;
  t.loaded_last = nullptr;
  drain();
}

void world::await_answer() noexcept {
  thread& t = me();
  t.state = doing::asks;
  t.since = now();
  dispatch();
}

void world::answer_at(sim_time when, std::uint32_t who) noexcept {
  call_at(when, [this, who] {
    threads_[who]->state = doing::runs;
    resume_at(who, now());
  });
}

void world::call_at(sim_time when, std::function<void()> what) noexcept {
  if (free_calls_.empty()) {
    free_calls_.push_back(static_cast<std::uint32_t>(calls_.size()));
    calls_.emplace_back();
  }
  const std::uint32_t slot = free_calls_.back();
  free_calls_.pop_back();
  calls_[slot] = std::move(what);
  queue_.at(when, {event::kind::call, slot, 0});
}

// ---- the operating system

void world::be_on_cpu(thread& t, bool is) noexcept {
  if (t.is_on_cpu == is) return;
  t.is_on_cpu = is;
  if (is)
    t.on_cpu_since = now();
  else {
    t.ran += now() - t.on_cpu_since;
    t.fair_time += static_cast<double>(now() - t.on_cpu_since);
  }
  threads_on_core_[t.core] += is ? 1 : -1u;
}

double world::fair_time_of(const thread& t) const noexcept {
  return t.fair_time + (t.is_on_cpu ? static_cast<double>(now() - t.on_cpu_since) : 0);
}

std::size_t world::queued(const processor& p) noexcept {
  return p.ready.size() + (p.current == nobody ? 0 : 1);
}

double world::average_fair_time(const processor& p) const noexcept {
  if (queued(p) == 0) return p.average_left;
  double sum = p.current == nobody ? 0 : fair_time_of(*threads_[p.current]);
  for (const std::uint32_t who : p.ready) sum += threads_[who]->fair_time;
  return sum / static_cast<double>(queued(p));
}

// The earliest deadline of those that have had no more than the average.
std::uint32_t world::pick(const processor& p, bool protects) const noexcept {
  // Times are whole picoseconds; their average is not.
  const double most = average_fair_time(p) + 1;
  const bool has_current = p.current != nobody && fair_time_of(*threads_[p.current]) <= most;
  if (has_current && protects && fair_time_of(*threads_[p.current]) < p.protected_until)
    return p.current;
  std::uint32_t best = nobody;
  for (const std::uint32_t who : p.ready)
    if (threads_[who]->fair_time <= most &&
        (best == nobody || threads_[who]->deadline < threads_[best]->deadline))
      best = who;
  if (has_current && (best == nobody || threads_[p.current]->deadline < threads_[best]->deadline))
    return p.current;
  return best;
}

// The current thread keeps the CPU until its deadline, which is found at a tick if there are any.
void world::begin_slice(processor& p, sim_time from) noexcept {
  const thread& t = *threads_[p.current];
  p.protected_until = t.deadline;
  const double left = std::max(t.deadline - fair_time_of(t), 0.0);
  p.slice_end = from + static_cast<sim_time>(left);
  if (machine_.tick > 0)
    // No interrupt comes at the very time: by chance one of two that have had as much is ahead.
    p.slice_end =
        next_tick(p, p.slice_end) + random_slices_.below(std::max<sim_time>(machine_.tick_work, 2));
  else
    p.slice_end = from + scattered(static_cast<sim_time>(left), random_slices_);
}

void world::continue_on_cpu(std::uint32_t who, sim_time when) noexcept {
  thread& t = *threads_[who];
  be_on_cpu(t, true);
  if (t.state == doing::works) {
    t.works_since = when;
    queue_.at(when + t.work_left, {event::kind::worked, who, ++t.work_ticket});
  } else if (t.has_work)
    resume_at(who, when);
  else
    // It goes on with its polls.
    t.polls_since = when;
}

void world::choose_next(processor& p) noexcept {
  p.must_switch = false;
  p.current = nobody;
  p.idle_since = now();
  if (p.ready.empty()) return;
  const std::uint32_t next = pick(p, false);
  std::erase(p.ready, next);
  p.current = next;
  begin_slice(p, now() + machine_.context_switch);
  continue_on_cpu(p.current, now() + machine_.context_switch);
  set_timer(p);
}

void world::leave_cpu(processor& p, bool again) noexcept {
  thread& t = *threads_[p.current];
  stop_work(t);
  p.average_left = t.average_left = average_fair_time(p);
  be_on_cpu(t, false);
  t.ahead = t.fair_time - p.average_left;
  if (again) p.ready.push_back(p.current);
  choose_next(p);
}

void world::make_ready(std::uint32_t who) noexcept {
  thread& t = *threads_[who];
  t.state = doing::runs;
  t.has_work = true;
  processor& p = processors_[t.cpu];
  const double average = average_fair_time(p), slice = static_cast<double>(machine_.slice);
  // It comes back as far behind the average as it was, but no farther than two slices. Who was
  // ahead has waited until the others had caught up.
  double ahead = std::max(t.ahead, -2 * slice);
  if (ahead > 0) ahead = std::max(ahead - (average - t.average_left), 0.0);
  const auto others = static_cast<double>(queued(p));
  // So far from the average with itself.
  t.fair_time = average + (others == 0 ? 0 : ahead * (others + 1) / others);
  t.deadline = t.fair_time + slice;
  if (p.current != nobody) {
    p.ready.push_back(who);
    set_timer(p);
    const auto number = static_cast<std::uint32_t>(&p - processors_.data());
    if (machine_.displace == 0 || number == cpu())
      displace(p);
    else
      queue_.at(now() + machine_.displace, {event::kind::displace, number, 0});
    return;
  }
  const sim_time wakes = wake_up_time(p);
  p.current = who;
  begin_slice(p, now() + wakes);
  continue_on_cpu(who, now() + wakes);
}

// A CPU that has been idle for long sleeps more deeply.
sim_time world::wake_up_time(const processor& p) const noexcept {
  if (machine_.deep_after == 0) return machine_.wake_up;
  const sim_time idle = std::min(now() - p.idle_since, machine_.deep_after);
  return machine_.wake_up +
         static_cast<sim_time>(static_cast<double>(machine_.deep_wake_up - machine_.wake_up) *
                               static_cast<double>(idle) /
                               static_cast<double>(machine_.deep_after));
}

// How much longer the running thread takes for something because its CPU's timer interrupts it.
sim_time world::interrupted_for(sim_time time) noexcept {
  if (machine_.tick_work == 0) return 0;
  processor& p = processors_[me().cpu];
  if (now() + time < p.next_tick) return 0;
  // A CPU that was idle had no ticks.
  const bool is_due = p.next_tick + machine_.tick > now();
  p.next_tick = next_tick(p, now() + time + 1);
  return is_due ? machine_.tick_work : 0;
}

// The first tick of a CPU at that time or later.
sim_time world::next_tick(const processor& p, sim_time from) const noexcept {
  const auto number = static_cast<sim_time>(&p - processors_.data());
  const sim_time phase = number * machine_.tick_offset % machine_.tick;
  return (from - phase + machine_.tick - 1) / machine_.tick * machine_.tick + phase;
}

void world::displace(processor& p) noexcept {
  if (p.current == nobody) return;
  thread& t = *threads_[p.current];
  if (pick(p, true) == p.current) return;
  if (t.state == doing::works || t.state == doing::polls)
    leave_cpu(p, true);
  else
    p.must_switch = true;
}

void world::set_timer(processor& p) noexcept {
  if (p.timer_is_set || p.ready.empty()) return;
  p.timer_is_set = true;
  queue_.at(p.slice_end,
            {event::kind::slice, static_cast<std::uint32_t>(&p - processors_.data()), 0});
}

void world::stop_work(thread& t) noexcept {
  if (t.state != doing::works) return;
  if (now() > t.works_since) t.work_left -= std::min(t.work_left, now() - t.works_since);
  ++t.work_ticket;
}

bool world::nobody_gets_on() noexcept {
  const bool is_so = ++idle_slices_ > 8 * (threads_.size() + 8) &&
                     std::all_of(threads_.begin(), threads_.end(), [](const auto& t) {
                       return !t->is_participant || t->state == doing::ended ||
                              t->state == doing::polls || t->state == doing::sleeps ||
                              t->state == doing::joins || t->state == doing::halts ||
                              t->state == doing::meets ||
                              (t->state == doing::runs && !t->is_on_cpu && !t->has_work);
                     });
  if (is_so) give_up("all threads wait for each other");
  return is_so;
}

void world::end_slice(std::uint32_t cpu) noexcept {
  processor& p = processors_[cpu];
  p.timer_is_set = false;
  if (p.ready.empty()) return;
  if (p.current == nobody || now() < p.slice_end) return set_timer(p);
  if (nobody_gets_on()) return;
  thread& t = *threads_[p.current];
  t.deadline = std::max(t.deadline, fair_time_of(t) + static_cast<double>(machine_.slice));
  if (pick(p, false) == p.current) {
    begin_slice(p, now());
    return set_timer(p);
  }
  const doing state = t.state;
  if (state == doing::polls || state == doing::works)
    leave_cpu(p, true);
  else
    p.must_switch = true;
}

void world::let_others_run() noexcept {
  thread& t = me();
  processor& p = processors_[t.cpu];
  if (!p.must_switch) return;
  p.must_switch = false;
  if (p.ready.empty()) return;
  t.has_work = true;
  leave_cpu(p, true);
  dispatch();
}

void world::yield() noexcept {
  thread& t = me();
  t.loaded_last = nullptr;
  t.loads = t.others = 0;
  processor& p = processors_[t.cpu];
  if (p.ready.empty()) return spend(call_time(machine_.yield));
  // Linux takes the rest of its slice away, unless it has had more than the average.
  if (fair_time_of(t) <= average_fair_time(p) + 1) {
    t.fair_time += std::max(t.deadline - fair_time_of(t), 0.0);
    t.deadline += static_cast<double>(machine_.slice);
  }
  if (pick(p, false) == t.number) return spend(call_time(machine_.yield));
  t.has_work = true;
  leave_cpu(p, true);
  dispatch();
}

sim_time world::scattered(sim_time time, generator& random) noexcept {
  return time - time / 4 + (time < 2 ? 0 : random.below(time / 2));
}

void world::take_futex_lock(line& l) noexcept {
  if (machine_.futex_lock == 0) return;
  ++l.futex_spinners;
  l.futex_free_at = std::max(l.futex_free_at, now()) + machine_.futex_lock * l.futex_spinners;
  spend(l.futex_free_at - now());
  --l.futex_spinners;
}

void world::sleep(const void* word, std::size_t size, std::uint64_t seen, sim_time until) noexcept {
  drain();
  spend(call_time(machine_.futex_wait));
  take_futex_lock(line_of(word));
  load(word, size);
  thread& t = me();
  t.loads = t.others = 0;
  t.loaded_last = nullptr;
  std::uint64_t value = 0;
  std::memcpy(&value, word, size);
  if (value != seen || until <= now()) return;
  t.state = doing::sleeps;
  t.sleeps_on = word;
  t.since = now();
  line_of(word).sleepers.push_back(t.number);
  ++t.timeout_ticket;
  if (until != forever) queue_.at(until, {event::kind::timeout, t.number, t.timeout_ticket});
  leave_cpu(processors_[t.cpu], false);
  dispatch();
  note_wait(waiting_time::reason::sleep, line_of(word), waiting_time::no_core);
}

void world::wake(const void* word, unsigned how_many) noexcept {
  ++me().others;
  drain();
  spend(call_time(machine_.futex_wake));
  line& l = line_of(word);
  take_futex_lock(l);
  // Only those that sleep now.
  std::vector<std::uint32_t> woken;
  std::erase_if(l.sleepers, [&](std::uint32_t who) {
    if (threads_[who]->sleeps_on != word || woken.size() == how_many) return false;
    woken.push_back(who);
    return true;
  });
  for (const std::uint32_t who : woken) {
    const unsigned its = threads_[who]->cpu;
    make_ready(who);
    const sim_time sends = its == cpu() ? 0 : machine_.wake_interrupt;
    spend(call_time(machine_.futex_wake + sends));
  }
}

}  // namespace tutti::sim
