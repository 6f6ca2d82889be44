// SPDX-License-Identifier: Apache-2.0
// Threads of a simulated machine, and the loop that handles events.
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
  return start_on(static_cast<unsigned>(threads_.size()) % machine_.cpus(), true, 0,
                  std::move(body));
}

std::size_t world::start_process(std::function<void()> body, unsigned cpu, std::uint32_t session) {
  // All sessions have the same part of the machine, and each divides it among its CPUs.
  const auto participants = static_cast<std::size_t>(std::count_if(
      threads_.begin(), threads_.end(), [](const auto& t) { return t->is_participant; }));
  if (session > 0)
    for (processor& p : processors_) {
      if (p.parts.size() <= session) p.parts.resize(std::size_t{session} + 1);
      p.parts[0].weight = 1.0 / static_cast<double>(std::min(participants, processors_.size()));
    }
  return start_on(cpu, false, session, std::move(body));
}

std::size_t world::start_on(unsigned cpu, bool is_participant, std::uint32_t session,
                            std::function<void()> body) {
  auto made = std::make_unique<thread>();
  made->is_participant = is_participant;
  made->session = session;
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
  session_part& s = p.parts[session];
  if (queued(p, session) == 0) place_session(p, session);
  t.fair_time = average_fair_time(p, session);
  t.deadline = t.fair_time + static_cast<double>(machine_.slice);
  if (p.current == nobody && !has_ready(p) && !s.is_throttled) {
    const sim_time skew = options_.start_within == 0 ? 0 : random_.below(options_.start_within);
    p.current = t.number;
    begin_slice(p, now() + skew);
    continue_on_cpu(t.number, now() + skew);
  } else {
    s.ready.push_back(t.number);
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
  for (const std::uint32_t other : t.joiners) make_ready(other, t.cpu);
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
  if (++events_ > options_.most_events)
    // It polls alone.
    give_up("the threads do not get anywhere");
  else if (until > last_time)
    give_up_for_time();
  else
    return;
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
    if (now() > last_time) {
      give_up_for_time();
      continue;
    }
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
      case event::kind::quota:
        if (e.ticket == processors_[e.who].quota_ticket) end_quota(processors_[e.who]);
        break;
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
        make_ready(e.who, t.cpu);
        break;
      }
    }
  }
}

void world::give_up(const std::string& why) noexcept {
  complaint_ = why + ", after " + std::to_string(nanoseconds(now()) / 1e3 - 1e6) +
               " µs of simulated time (seed " + std::to_string(options_.seed) + "):";
  for (std::uint32_t i = 0; i < threads_.size(); ++i) complaint_ += "\n  " + describe(i);
}

void world::give_up_for_time() noexcept {
  give_up("the simulated time has passed 2^63 ps, which is 107 days");
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
           std::to_string(nanoseconds(now() - t.since) / 1e3) + " µs";
  if (t.state == doing::meets) {
    const barrier_unit& unit = units_[machine_.cluster_of_core(t.core)];
    return text + "waits in its cluster's barrier unit, where " +
           std::to_string(unit.arrived.size()) + " have arrived";
  }
  if (t.state == doing::sleeps)
    text += "sleeps in a futex call until another thread wakes it, " + at(*t.polled);
  else if (t.state == doing::polls)
    text += "polls " + at(*t.polled) + ", where it reads " + std::to_string(t.value);
  else if (t.drains && !t.stores.empty())
    text += "waits until its stores are done, " + at(*t.stores.front().at);
  else if (t.waits_for != nullptr)
    text += std::string("waits to ") + (t.wants == access::read ? "read " : "change ") +
            at(*t.waits_for);
  else
    return text + (t.is_on_cpu ? "runs" : "waits for the CPU") +
           (t.polled == nullptr ? std::string() : ", it last read " + at(*t.polled));
  return text + ", since " + std::to_string(nanoseconds(now() - t.since) / 1e3) + " µs" +
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
  for (const processor& p : processors_)
    for (std::uint32_t session = 0; session < p.parts.size(); ++session)
      count += queued(p, session);
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

}  // namespace tutti::sim
