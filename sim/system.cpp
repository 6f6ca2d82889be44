// SPDX-License-Identifier: Apache-2.0
// The operating system of a simulated machine: who has a CPU, sleeps and wake-ups.
#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/thread.hpp"

namespace tutti::sim {

// ---- who has had how much of a CPU

void world::be_on_cpu(thread& t, bool is) noexcept {
  if (t.is_on_cpu == is) return;
  t.is_on_cpu = is;
  threads_on_core_[t.core] += is ? 1 : -1u;
  processor& p = processors_[t.cpu];
  session_part& s = part_of(t);
  if (is) {
    t.on_cpu_since = now();
    p.last_session = t.session;
    if (has_quota(t.session)) watch_quota(p);
    return;
  }
  const sim_time ran = now() - t.on_cpu_since;
  t.ran += ran;
  t.fair_time += static_cast<double>(ran);
  s.fair_time += static_cast<double>(ran) / s.weight;
  if (!has_quota(t.session)) return;
  s.quota_left -= std::min(s.quota_left, ran);
  ++p.quota_ticket;
}

double world::fair_time_of(const thread& t) const noexcept {
  return t.fair_time + (t.is_on_cpu ? static_cast<double>(now() - t.on_cpu_since) : 0);
}

double world::fair_time_of(const processor& p, std::uint32_t session) const noexcept {
  const session_part& s = p.parts[session];
  if (p.current == nobody) return s.fair_time;
  const thread& t = *threads_[p.current];
  const bool runs = t.session == session && t.is_on_cpu;
  return s.fair_time + (runs ? static_cast<double>(now() - t.on_cpu_since) / s.weight : 0);
}

world::session_part& world::part_of(const thread& t) noexcept {
  return processors_[t.cpu].parts[t.session];
}

bool world::runs_for(const processor& p, std::uint32_t session) const noexcept {
  return p.current != nobody && threads_[p.current]->session == session;
}

std::size_t world::queued(const processor& p, std::uint32_t session) const noexcept {
  return p.parts[session].ready.size() + (runs_for(p, session) ? 1 : 0);
}

bool world::can_run(const processor& p, std::uint32_t session) const noexcept {
  return !p.parts[session].is_throttled && queued(p, session) > 0;
}

// Whether a thread waits for the CPU that might have it.
bool world::has_ready(const processor& p) noexcept {
  return std::any_of(p.parts.begin(), p.parts.end(),
                     [](const session_part& s) { return !s.is_throttled && !s.ready.empty(); });
}

double world::average_fair_time(const processor& p, std::uint32_t session) const noexcept {
  const session_part& s = p.parts[session];
  const std::size_t count = queued(p, session);
  if (count == 0) return s.average_left;
  double sum = runs_for(p, session) ? fair_time_of(*threads_[p.current]) : 0;
  for (const std::uint32_t who : s.ready) sum += threads_[who]->fair_time;
  return sum / static_cast<double>(count);
}

double world::average_of_sessions(const processor& p) const noexcept {
  double sum = 0, weights = 0;
  for (std::uint32_t session = 0; session < p.parts.size(); ++session) {
    if (!can_run(p, session)) continue;
    sum += p.parts[session].weight * fair_time_of(p, session);
    weights += p.parts[session].weight;
  }
  return weights == 0 ? p.average_left : sum / weights;
}

// ---- who is next

// The earliest deadline of the sessions that have had no more than the average. The last one keeps
// the CPU until it has had its slice.
std::uint32_t world::pick_session(const processor& p) const noexcept {
  std::uint32_t only = nobody;
  std::size_t count = 0;
  for (std::uint32_t session = 0; session < p.parts.size(); ++session)
    if (can_run(p, session)) {
      only = session;
      ++count;
    }
  if (count < 2) return only;
  const double most = average_of_sessions(p) + 1;
  const auto is_eligible = [&](std::uint32_t session) {
    return can_run(p, session) && fair_time_of(p, session) <= most;
  };
  if (is_eligible(p.last_session) && fair_time_of(p, p.last_session) < p.session_protected_until)
    return p.last_session;
  std::uint32_t best = nobody;
  for (std::uint32_t session = 0; session < p.parts.size(); ++session)
    if (is_eligible(session) &&
        (best == nobody || p.parts[session].deadline < p.parts[best].deadline))
      best = session;
  return best;
}

// The earliest deadline of the threads of that session that have had no more than the average.
std::uint32_t world::pick(const processor& p, bool protects) const noexcept {
  const std::uint32_t session = pick_session(p);
  if (session == nobody) return nobody;
  // Times are whole picoseconds; their average is not.
  const double most = average_fair_time(p, session) + 1;
  const bool has_current = runs_for(p, session) && fair_time_of(*threads_[p.current]) <= most;
  if (has_current && protects && fair_time_of(*threads_[p.current]) < p.protected_until)
    return p.current;
  std::uint32_t best = nobody;
  for (const std::uint32_t who : p.parts[session].ready)
    if (threads_[who]->fair_time <= most &&
        (best == nobody || threads_[who]->deadline < threads_[best]->deadline))
      best = who;
  if (has_current && (best == nobody || threads_[p.current]->deadline < threads_[best]->deadline))
    return p.current;
  return best;
}

// The current thread keeps the CPU until its deadline or that of its session, which is found at a
// tick if there are any.
void world::begin_slice(processor& p, sim_time from) noexcept {
  const thread& t = *threads_[p.current];
  const session_part& s = p.parts[t.session];
  p.protected_until = t.deadline;
  double left = std::max(t.deadline - fair_time_of(t), 0.0);
  if (p.parts.size() > 1) {
    p.session_protected_until = s.deadline;
    left = std::min(left, std::max(s.deadline - fair_time_of(p, t.session), 0.0) * s.weight);
  }
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
  const std::uint32_t next = pick(p, false);
  if (next == nobody) return;
  std::erase(part_of(*threads_[next]).ready, next);
  p.current = next;
  begin_slice(p, now() + machine_.context_switch);
  continue_on_cpu(p.current, now() + machine_.context_switch);
  set_timer(p);
}

void world::leave_cpu(processor& p, bool again) noexcept {
  thread& t = *threads_[p.current];
  session_part& s = part_of(t);
  stop_work(t);
  s.average_left = t.average_left = average_fair_time(p, t.session);
  p.average_left = average_of_sessions(p);
  be_on_cpu(t, false);
  t.ahead = t.fair_time - s.average_left;
  if (again) {
    s.ready.push_back(p.current);
  } else if (s.ready.empty()) {
    s.ahead = s.fair_time - p.average_left;
    s.average_of_sessions_left = p.average_left;
    if (has_quota(t.session)) return_quota(s);
  }
  choose_next(p);
}

namespace {

// A thread or session comes back as far behind the average as it was, but no farther than two
// slices. One that was ahead has waited until the others had caught up.
double place_again(double ahead, double slice, double average, double average_left) {
  ahead = std::max(ahead, -2 * slice);
  return ahead > 0 ? std::max(ahead - (average - average_left), 0.0) : ahead;
}

}  // namespace

void world::make_ready(std::uint32_t who, unsigned by) noexcept {
  thread& t = *threads_[who];
  t.state = doing::runs;
  t.has_work = true;
  processor& p = processors_[t.cpu];
  session_part& s = part_of(t);
  if (queued(p, t.session) == 0) place_session(p, t.session);
  const double average = average_fair_time(p, t.session);
  const auto slice = static_cast<double>(machine_.slice);
  const double ahead = place_again(t.ahead, slice, average, t.average_left);
  const auto others = static_cast<double>(queued(p, t.session));
  // So far from the average with itself.
  t.fair_time = average + (others == 0 ? 0 : ahead * (others + 1) / others);
  t.deadline = t.fair_time + slice;
  if (p.current != nobody || s.is_throttled) {
    s.ready.push_back(who);
    if (s.is_throttled) return;
    set_timer(p);
    const auto number = static_cast<std::uint32_t>(&p - processors_.data());
    if (machine_.displace == 0 || number == by)
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

// A session whose first thread comes to a CPU.
void world::place_session(processor& p, std::uint32_t session) noexcept {
  if (p.parts.size() < 2) return;
  session_part& s = p.parts[session];
  const double slice = static_cast<double>(machine_.slice) / s.weight;
  const double average = average_of_sessions(p);
  double others = 0;
  for (std::uint32_t other = 0; other < p.parts.size(); ++other)
    if (other != session && can_run(p, other)) others += p.parts[other].weight;
  const double ahead = place_again(s.ahead, slice, average, s.average_of_sessions_left);
  s.fair_time = average + (others == 0 ? 0 : ahead * (others + s.weight) / others);
  s.deadline = s.fair_time + slice;
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
  // A CPU that was idle had no ticks.
  if (p.next_tick + machine_.tick <= now()) p.next_tick = next_tick(p, now() + 1);
  if (now() + time < p.next_tick) return 0;
  // After the first tick the thread gets on by what the others leave it.
  const sim_time left = now() + time - p.next_tick;
  const sim_time ticks = 1 + left / (machine_.tick - machine_.tick_work);
  const sim_time takes = ticks * machine_.tick_work;
  p.next_tick = next_tick(p, now() + time + takes + 1);
  return takes;
}

// The first tick of a CPU at that time or later.
sim_time world::next_tick(const processor& p, sim_time from) const noexcept {
  const auto number = static_cast<sim_time>(&p - processors_.data());
  const sim_time phase = number * machine_.tick_offset % machine_.tick;
  return (from - phase + machine_.tick - 1) / machine_.tick * machine_.tick + phase;
}

void world::displace(processor& p) noexcept {
  if (p.current == nobody || pick(p, true) == p.current) return;
  take_cpu_away(p);
}

// From the current thread: at once, or at its next operation.
void world::take_cpu_away(processor& p) noexcept {
  const doing state = threads_[p.current]->state;
  if (state == doing::works || state == doing::polls)
    leave_cpu(p, true);
  else
    p.must_switch = true;
}

void world::set_timer(processor& p) noexcept {
  if (p.timer_is_set || !has_ready(p)) return;
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
  if (!has_ready(p)) return;
  if (p.current == nobody || now() < p.slice_end) return set_timer(p);
  if (nobody_gets_on()) return;
  thread& t = *threads_[p.current];
  session_part& s = part_of(t);
  // The slice was the thread's, or its session's.
  if (p.parts.size() == 1 || fair_time_of(t) >= t.deadline)
    t.deadline = std::max(t.deadline, fair_time_of(t) + static_cast<double>(machine_.slice));
  if (const double fair = fair_time_of(p, t.session); fair >= s.deadline)
    s.deadline = fair + static_cast<double>(machine_.slice) / s.weight;
  if (pick(p, false) == p.current) {
    begin_slice(p, now());
    return set_timer(p);
  }
  take_cpu_away(p);
}

void world::let_others_run() noexcept {
  thread& t = me();
  processor& p = processors_[t.cpu];
  if (!p.must_switch) return;
  p.must_switch = false;
  if (!has_ready(p) && !part_of(t).is_throttled) return;
  t.has_work = true;
  leave_cpu(p, true);
  dispatch();
}

void world::yield() noexcept {
  thread& t = me();
  t.loaded_last = nullptr;
  t.loads = t.others = 0;
  processor& p = processors_[t.cpu];
  if (!has_ready(p)) return spend(call_time(machine_.yield));
  // Linux takes the rest of its slice away, unless it has had more than the average; nothing is
  // taken from its session.
  if (fair_time_of(t) <= average_fair_time(p, t.session) + 1) {
    t.fair_time += std::max(t.deadline - fair_time_of(t), 0.0);
    t.deadline += static_cast<double>(machine_.slice);
  }
  if (pick(p, false) == t.number) return spend(call_time(machine_.yield));
  t.has_work = true;
  leave_cpu(p, true);
  dispatch();
}

// ---- quotas: the participants' session gets so much of the CPUs in each period, which CPUs take
// by and by, as Linux's bandwidth control does it

bool world::has_quota(std::uint32_t session) const noexcept {
  return options_.quota_cpus > 0 && session == 0;
}

// Takes the next part for a CPU, if there is any left in this period.
void world::take_quota(session_part& s) noexcept {
  const sim_time part = std::min(quota_part, quota_pool_);
  quota_pool_ -= part;
  s.quota_left += part;
}

// A CPU that has nothing to do any more returns all but a little.
void world::return_quota(session_part& s) noexcept {
  constexpr sim_time kept = picoseconds(1e6);
  if (s.quota_left <= kept) return;
  quota_pool_ += s.quota_left - kept;
  s.quota_left = kept;
}

void world::watch_quota(processor& p) noexcept {
  if (!quota_is_due_) {
    quota_is_due_ = true;
    quota_pool_ = static_cast<sim_time>(options_.quota_cpus * static_cast<double>(quota_period));
    call_at(now() + quota_period, [this] { begin_quota_period(); });
  }
  quota_is_used_ = true;
  ++p.quota_ticket;
  if (p.parts[0].is_throttled) return;
  queue_.at(
      now() + p.parts[0].quota_left,
      {event::kind::quota, static_cast<std::uint32_t>(&p - processors_.data()), p.quota_ticket});
}

// The current thread of a CPU has had what the CPU has taken.
void world::end_quota(processor& p) noexcept {
  thread& t = *threads_[p.current];
  session_part& s = p.parts[0];
  // What it has had is counted.
  be_on_cpu(t, false);
  if (s.quota_left == 0) take_quota(s);
  if (s.quota_left == 0) {
    s.average_of_sessions_left = average_of_sessions(p);
    s.ahead = s.fair_time - s.average_of_sessions_left;
    s.is_throttled = true;
  }
  be_on_cpu(t, true);
  if (s.is_throttled) take_cpu_away(p);
}

bool world::was_stopped_by_quota(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
  if (stop_ended_at_ / 1000 <= began_ns) return false;
  if (std::exchange(stop_found_, stop_ended_at_) != stop_ended_at_)
    stops_by_quota_.note_stop(now_ns);
  return true;
}

void world::begin_quota_period() noexcept {
  // Nobody has run for a whole period: the next one begins when somebody does.
  const bool is_idle = !std::exchange(quota_is_used_, false);
  quota_pool_ = static_cast<sim_time>(options_.quota_cpus * static_cast<double>(quota_period));
  if (nobody_gets_on()) return;
  bool runs = false;
  for (processor& p : processors_) {
    session_part& s = p.parts[0];
    runs = runs || runs_for(p, 0);
    if (!s.is_throttled) continue;
    take_quota(s);
    if (s.quota_left == 0) continue;
    runs = true;
    place_session(p, 0);
    s.is_throttled = false;
    stop_ended_at_ = now();
    if (p.current == nobody) {
      choose_next(p);
    } else {
      set_timer(p);
      displace(p);
    }
  }
  quota_is_due_ = runs || !is_idle;
  if (quota_is_due_) call_at(now() + quota_period, [this] { begin_quota_period(); });
}

// ---- system calls

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
    // Its deadline may come before its turn.
    ++threads_[who]->timeout_ticket;
    return true;
  });
  for (const std::uint32_t who : woken) {
    const unsigned its = threads_[who]->cpu;
    make_ready(who, cpu());
    const sim_time sends = its == cpu() ? 0 : machine_.wake_interrupt;
    spend(call_time(machine_.futex_wake + sends));
  }
}

}  // namespace tutti::sim
