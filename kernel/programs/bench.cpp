// SPDX-License-Identifier: Apache-2.0
// `bench`: the latency of each way to notify another core, to one core and to all, and the parts of
// an interrupt's cost. `trials=N` is the number for each receiver, `turn=N` the polls of a
// background thread between two yields. `lines=summary` leaves out the distributions, and the lines
// of single receivers but those of the machine's own mechanisms.
//
// The clock starts at the instant before the notification and ends with the first instruction of
// what was notified: the polling loop's exit, the handler, the action, or the woken thread.
#include "kernel/event/condition.hpp"
#include "kernel/event/events.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "kernel/programs/samples.hpp"

namespace tutti::kernel {

namespace {

const char* unit = "ticks";

// What a receiver writes when it has been notified.
struct alignas(cache_line) arrival {
  std::atomic<native_word> at{0};
  void note(native_word when = machine::stamp()) noexcept {
    // release: ends this receiver's part of the trial; pairs with await().
    at.store(when, release);
  }
  // Waits for the arrival of this trial, and makes room for the next.
  native_word await() noexcept {
    native_word when;
    // acquire: pairs with note().
    while ((when = at.load(acquire)) == 0) machine::pause();
    // relaxed: the next trial's notification follows.
    at.store(0, relaxed);
    return when;
  }
};
arrival arrivals[machine::most_cores];

void note_arrival() noexcept { arrivals[machine::here().index].note(); }
void note_event(void*, rank_t, std::uintptr_t) { note_arrival(); }
// What the machine has noted itself, at the first instruction.
void note_entry() noexcept { arrivals[machine::here().index].note(machine::entry_stamp()); }
void note_call(native_word) noexcept { note_arrival(); }
void note_call_entry(native_word at) noexcept { arrivals[machine::here().index].note(at); }

// Lets a receiver get to its wait. The time varies, so that a trial finds a background thread
// anywhere in its turn.
void settle() noexcept {
  // Nobody else's data are on this line.
  alignas(cache_line) static u32 trial = 0;
  trial = (trial + 1) % 61;
  for (u32 i = 0; i < 50 + 7 * trial; ++i) machine::pause();
}

bool is_summary = false;

// The polls of a background thread between two yields.
u32 background_polls = 200;

// An idle core has armed its timer, which would interrupt one of the trials. Nobody on this core
// sleeps until a time.
void stop_timer() noexcept {
  const without_interrupts off;
  core& here = machine::here();
  if (here.slice != 0) return;
  machine::arm_timer(0);
  here.armed_for = 0;
}

// --- the mechanisms: each has receivers, which `make` starts on some cores, and two notifications

constexpr u8 measured_interrupt = 0x51;

class mechanism {
 public:
  virtual void start(u32 first, u32 last) noexcept = 0;
  virtual void stop() noexcept = 0;
  // Before a trial: all receivers wait.
  virtual void prepare() noexcept { settle(); }
  virtual void notify_one(u32 core) noexcept = 0;
  virtual void notify_all() noexcept = 0;

 protected:
  ~mechanism() = default;
};

// A thread on each receiver until the end: `body(core)` is one step of it.
template <class Body>
class receivers {
 public:
  void start(u32 first, u32 last, Body body) noexcept {
    first_ = first;
    last_ = last;
    body_ = body;
    // relaxed: creating the threads publishes it.
    is_over_.store(false, relaxed);
    for (u32 i = first; i < last; ++i) {
      places_[i] = {this, i};
      threads_[i] = create(i, run, &places_[i], "receiver");
    }
    // relaxed: they run, and that is all.
    while (running_.load(relaxed) < last - first) machine::pause();
    running_.store(0, relaxed);
  }
  void end() noexcept { is_over_.store(true, relaxed); }
  void join_all() noexcept {
    for (u32 i = first_; i < last_; ++i) join(threads_[i]);
  }
  // relaxed: only the end matters.
  bool is_over() const noexcept { return is_over_.load(relaxed); }

 private:
  struct place {
    receivers* all;
    u32 core;
  };
  static void run(void* argument) {
    const place& mine = *static_cast<place*>(argument);
    stop_timer();
    // relaxed: a count for whoever starts them.
    mine.all->running_.fetch_add(1, relaxed);
    while (!mine.all->is_over()) mine.all->body_(mine.core);
  }

  u32 first_ = 0, last_ = 0;
  Body body_{};
  std::atomic<bool> is_over_{false};
  std::atomic<u32> running_{0};
  place places_[machine::most_cores];
  thread* threads_[machine::most_cores];
};

// Receivers that only spin: interrupts find a running core. Or none: the core halts.
using plain_body = void (*)(u32);
enum class receiver : u8 { spins, halts };
class spinning_receivers : public mechanism {
 public:
  explicit spinning_receivers(receiver is = receiver::spins) noexcept : is_(is) {}
  void start(u32 first, u32 last) noexcept override {
    if (is_ == receiver::spins) threads_.start(first, last, [](u32) { machine::pause(); });
  }
  void stop() noexcept override {
    if (is_ == receiver::halts) return;
    threads_.end();
    threads_.join_all();
  }

 private:
  receiver is_;
  receivers<plain_body> threads_;
};

// The interrupt of events with another handler: the least that the machine's interrupts take.
class by_plain_interrupt final : public spinning_receivers {
 public:
  explicit by_plain_interrupt(machine::handler act, receiver is = receiver::spins) noexcept
      : spinning_receivers(is), act_(act) {}
  void start(u32 first, u32 last) noexcept override {
    spinning_receivers::start(first, last);
    before_ = machine::on_interrupt(machine::event_interrupt, act_);
  }
  void stop() noexcept override {
    machine::on_interrupt(machine::event_interrupt, before_);
    spinning_receivers::stop();
  }
  void notify_one(u32 core) noexcept override {
    machine::interrupt_core(core, machine::event_interrupt);
  }
  void notify_all() noexcept override { machine::interrupt_others(machine::event_interrupt); }

 private:
  machine::handler act_, before_ = nullptr;
};

class by_remote_call final : public spinning_receivers {
 public:
  explicit by_remote_call(machine::call_handler act, receiver is = receiver::spins) noexcept
      : spinning_receivers(is), act_(act) {}
  void start(u32 first, u32 last) noexcept override {
    if constexpr (machine::has_remote_calls) machine::on_remote_call(act_);
    spinning_receivers::start(first, last);
  }
  void notify_one(u32 core) noexcept override {
    if constexpr (machine::has_remote_calls) machine::call_core(core);
  }
  void notify_all() noexcept override {
    if constexpr (machine::has_remote_calls) machine::call_others();
  }

 private:
  machine::call_handler act_;
};

class by_interrupt final : public spinning_receivers {
 public:
  by_interrupt() noexcept { machine::on_interrupt(measured_interrupt, note_arrival); }
  void notify_one(u32 core) noexcept override { machine::interrupt_core(core, measured_interrupt); }
  void notify_all() noexcept override { machine::interrupt_others(measured_interrupt); }
};

class by_shortcut final : public spinning_receivers {
 public:
  by_shortcut() noexcept { on_single_event(note_arrival); }
  void notify_one(u32 core) noexcept override { send_single_event(core); }
  void notify_all() noexcept override { broadcast_single_event(); }
};

class by_event final : public spinning_receivers {
 public:
  explicit by_event(told_by how) noexcept : how_(how) {
    start_events();
    action_ = add_action(note_event, nullptr);
  }
  void start(u32 first, u32 last) noexcept override {
    tell_by(how_);
    spinning_receivers::start(first, last);
  }
  void notify_one(u32 core) noexcept override { post_event(core, action_, 0); }
  void notify_all() noexcept override { broadcast_event(action_, 0); }

 private:
  told_by how_;
  action_id action_;
};

polled_event polled_by[machine::most_cores];
polled_event polled_by_all;

class by_polling final : public mechanism {
 public:
  void start(u32 first, u32 last) noexcept override {
    is_single_ = last - first == 1;
    only_ = first;
    threads_.start(first, last, poll{this});
  }
  void stop() noexcept override {
    threads_.end();
    notify_all();
    threads_.join_all();
  }
  void notify_one(u32 core) noexcept override { polled_by[core].notify(); }
  void notify_all() noexcept override {
    is_single_ ? polled_by[only_].notify() : polled_by_all.notify();
  }

 private:
  struct poll {
    by_polling* all = nullptr;
    void operator()(u32 core) const noexcept {
      polled_event& event = all->is_single_ ? polled_by[core] : polled_by_all;
      // The counts go on when other receivers are started.
      static native_word seen[machine::most_cores][2];
      native_word& mine = seen[core][all->is_single_];
      mine = event.wait(mine);
      if (!all->threads_.is_over()) note_arrival();
    }
  };

  receivers<poll> threads_;
  bool is_single_ = false;
  u32 only_ = 1;
};

// The waiting thread of each receiver; without a kick a background thread shares its core.
class by_condition final : public mechanism {
 public:
  explicit by_condition(wake_up how) noexcept : how_(how), changed_(how) {}

  void start(u32 first, u32 last) noexcept override {
    count_ = last - first;
    waiting_ = 0;
    if (how_ == wake_up::queued) background_.start(first, last, background_turn);
    threads_.start(first, last, wait{this});
  }
  void stop() noexcept override {
    prepare();
    threads_.end();
    changed_.broadcast();
    threads_.join_all();
    if (how_ != wake_up::queued) return;
    background_.end();
    background_.join_all();
  }
  // A receiver counts itself and unlocks the mutex when it waits.
  void prepare() noexcept override {
    for (bool is_ready = false; !is_ready; machine::pause()) {
      const holding hold(lock_);
      is_ready = waiting_ == count_;
      if (is_ready) waiting_ = 0;
    }
    settle();
  }
  void notify_one(u32) noexcept override { changed_.signal(); }
  void notify_all() noexcept override { changed_.broadcast(); }

 private:
  static void background_turn(u32) {
    for (u32 i = 0; i < background_polls; ++i) machine::pause();
    yield();
  }
  struct wait {
    by_condition* all = nullptr;
    void operator()(u32) const noexcept {
      const holding hold(all->lock_);
      ++all->waiting_;
      all->changed_.wait(all->lock_);
      note_arrival();
    }
  };

  wake_up how_;
  mutex lock_;
  condition changed_;
  u32 count_ = 0;
  u32 waiting_ = 0;
  receivers<wait> threads_;
  receivers<plain_body> background_;
};

// --- lines

// The key of one receiver; 0: all of them.
line_of_text key_of(u32 receiver) noexcept {
  line_of_text key;
  if (receiver != 0) {
    key.add(",\"receiver\":");
    key.add(receiver);
  }
  key.add('\0');
  return key;
}

void print_line(const char* name, const char* metric, u32 receiver, u32 count,
                samples& s) noexcept {
  s.sort();
  const line_of_text who = key_of(receiver);
  print("{\"type\":\"result\",\"benchmark\":\"event\",\"provider\":\"kernel\",\"name\":\"", name,
        "\",\"metric\":\"", metric, "\"", who.begin(), ",\"threads\":", count, ",\"unit\":\"", unit,
        "\",\"min\":", s.percentile(0), ",\"p25\":", s.percentile(25),
        ",\"median\":", s.percentile(50), ",\"p75\":", s.percentile(75),
        ",\"p99\":", s.percentile(99), ",\"max\":", s.percentile(100),
        ",\"mean\":", thousandths{s.mean_in_thousandths()},
        ",\"sigma\":", thousandths{s.sigma_in_thousandths()}, ",\"samples\":", s.count(), "}");
}

// All samples of one line, which are sorted, as pairs of a value and how often it occurs.
void print_distribution(const char* name, const char* metric, u32 receiver, u32 count,
                        const samples& s) noexcept {
  if (is_summary) return;
  const line_of_text who = key_of(receiver);
  // A line of output holds this many.
  constexpr u64 most_pairs = 10;
  for (u64 next = 0; next < s.count();) {
    line_of_text pairs;
    for (u64 k = 0; k < most_pairs && next < s.count(); ++k) {
      const u64 value = s.at(next), first = next;
      while (next < s.count() && s.at(next) == value) ++next;
      pairs.add(k == 0 ? "[" : ",[");
      pairs.add(value);
      pairs.add(',');
      pairs.add(next - first);
      pairs.add(']');
    }
    pairs.add('\0');
    print("{\"type\":\"distribution\",\"benchmark\":\"event\",\"provider\":\"kernel\",\"name\":\"",
          name, "\",\"metric\":\"", metric, "\"", who.begin(), ",\"threads\":", count,
          ",\"unit\":\"", unit, "\",\"counts\":[", pairs.begin(), "]}");
  }
}

// Returns the median over all receivers.
u64 measure_unicast(const char* name, mechanism& by, u64 trials) noexcept {
  samples all(trials * cores());
  const bool is_bare = text::is_same(name, "polling") || text::is_same(name, "interrupt_entry") ||
                       text::is_same(name, "remote_call_entry");
  for (u32 core = 1; core < cores(); ++core) {
    samples mine(trials);
    by.start(core, core + 1);
    for (u64 k = 0; k < trials; ++k) {
      by.prepare();
      const native_word begin = machine::stamp();
      by.notify_one(core);
      const u64 latency = arrivals[core].await() - begin;
      mine.add(latency);
      all.add(latency);
    }
    by.stop();
    // relaxed: the receivers have ended.
    arrivals[core].at.store(0, relaxed);
    if (is_bare || !is_summary) print_line(name, "unicast_to", core, 2, mine);
    // The paper shows how far an interrupt is from each core (figure 7).
    if (text::is_same(name, "interrupt") || text::is_same(name, "interrupt_entry"))
      print_distribution(name, "unicast_to", core, 2, mine);
  }
  print_line(name, "unicast", 0, 2, all);
  print_distribution(name, "unicast", 0, 2, all);
  return all.percentile(50);
}

void measure_broadcast(const char* name, mechanism& by, u64 trials) noexcept {
  const u32 count = cores();
  samples all(trials * count), first(trials), last(trials), sigma(trials);
  by.start(1, count);
  for (u64 k = 0; k < trials; ++k) {
    by.prepare();
    samples mine(count);
    const native_word begin = machine::stamp();
    by.notify_all();
    for (u32 core = 1; core < count; ++core) {
      const u64 latency = arrivals[core].await() - begin;
      mine.add(latency);
      all.add(latency);
    }
    sigma.add(mine.sigma_in_thousandths() / 1000);
    mine.sort();
    first.add(mine.percentile(0));
    last.add(mine.percentile(100));
  }
  by.stop();
  // relaxed: the receivers have ended.
  for (arrival& a : arrivals) a.at.store(0, relaxed);
  print_line(name, "broadcast", 0, count, all);
  print_line(name, "broadcast_first", 0, count, first);
  print_line(name, "broadcast_last", 0, count, last);
  print_line(name, "broadcast_sigma", 0, count, sigma);
  print_distribution(name, "broadcast_sigma", 0, count, sigma);
}

void do_nothing() noexcept {}
void ignore_call(native_word) noexcept {}

// The send of an interrupt without a number, and of a remote call, to this core.
[[maybe_unused]] void measure_sources(u64 trials) noexcept {
  samples plain(trials), call(trials);
  const u32 me = machine::here().index;
  const machine::handler before = machine::on_interrupt(machine::event_interrupt, do_nothing);
  machine::on_remote_call(ignore_call);
  const auto measure = [](samples& into, auto send) {
    const without_interrupts off;
    const native_word begin = machine::stamp();
    send();
    into.add(machine::stamp() - begin);
  };
  for (u64 k = 0; k < trials; ++k) {
    measure(plain, [&] { machine::interrupt_core(me, machine::event_interrupt); });
    measure(call, [&] { machine::call_core(me); });
  }
  machine::on_interrupt(machine::event_interrupt, before);
  print_line("source_plain", "part", 0, 1, plain);
  print_line("source_call", "part", 0, 1, call);
}

// The parts of an interrupt's cost as the paper estimates them (figure 19). The source is a send
// to this core with interrupts off, which nobody handles yet; the destination is an interrupt by an
// instruction.
void measure_parts(u64 unicast, u64 trials) noexcept {
  samples source(trials), destination(trials), system_call(trials), clock(trials);
  machine::on_interrupt(machine::self_interrupt, note_arrival);
  const u32 me = machine::here().index;
  for (u64 k = 0; k < trials; ++k) {
    {
      const without_interrupts off;
      const native_word begin = machine::stamp();
      machine::interrupt_core(me, measured_interrupt);
      source.add(machine::stamp() - begin);
    }
    arrivals[me].await();
    const native_word begin = machine::stamp();
    machine::interrupt_self_by_instruction();
    destination.add(arrivals[me].await() - begin);
    system_call.add(machine::ticks_of_system_call());
    const native_word first = machine::stamp();
    clock.add(machine::stamp() - first);
  }
  if constexpr (machine::has_remote_calls) measure_sources(trials);
  print_line("clock", "part", 0, 1, clock);
  print_line("source", "part", 0, 1, source);
  print_line("destination", "part", 0, 1, destination);
  print_line("system_call", "part", 0, 1, system_call);
  const u64 known = source.percentile(0) + destination.percentile(0);
  const u64 flight = unicast > known ? unicast - known : 0;
  const u64 as_call = unicast > destination.percentile(0)
                          ? unicast - destination.percentile(0) + system_call.percentile(0)
                          : system_call.percentile(0);
  print("{\"type\":\"parts\",\"unit\":\"", unit, "\",\"source\":", source.percentile(0),
        ",\"flight\":", flight, ",\"destination\":", destination.percentile(0),
        ",\"interrupt\":", unicast, ",\"system_call\":", system_call.percentile(0),
        ",\"interrupt_as_system_call\":", as_call, "}");
}

}  // namespace

bool bench_events(const char* line) {
  unit = unit_of(line);
  const u64 trials = text::number_of(line, "trials", 100);
  is_summary = text::is_value(line, "lines", "summary");
  background_polls = static_cast<u32>(text::number_of(line, "turn", background_polls));
  if (cores() < 2 || trials == 0) {
    print("failed: the bench needs two cores and a trial");
    return false;
  }
  stop_timer();
  by_polling polling;
  by_shortcut shortcut;
  by_interrupt interrupt;
  by_event event(told_by::interrupt), event_by_call(told_by::remote_call);
  by_plain_interrupt plain(note_arrival), entry(note_entry);
  by_plain_interrupt halted_entry(note_entry, receiver::halts);
  by_remote_call call_entry(note_call_entry), call(note_call);
  by_remote_call halted_call_entry(note_call_entry, receiver::halts);
  by_condition kicked(wake_up::kicked), queued(wake_up::queued);
  struct named {
    const char* name;
    mechanism* by;
    bool exists = true;
  } const all[] = {
      {"polling", &polling},
      {"event_shortcut", &shortcut},
      {"interrupt", &interrupt},
      {"event", &event},
      {"condition_kick", &kicked},
      {"condition", &queued},
      {"interrupt_plain", &plain, machine::has_entry_stamp},
      {"interrupt_entry", &entry, machine::has_entry_stamp},
      {"interrupt_entry_halted", &halted_entry, machine::has_entry_stamp},
      {"remote_call_entry", &call_entry, machine::has_remote_calls},
      {"remote_call_entry_halted", &halted_call_entry, machine::has_remote_calls},
      {"remote_call", &call, machine::has_remote_calls},
      {"event_by_call", &event_by_call, machine::has_remote_calls},
  };
  u64 unicast_interrupt = 0;
  for (const named& n : all) {
    if (!n.exists) continue;
    const u64 median = measure_unicast(n.name, *n.by, trials);
    if (n.by == &interrupt) unicast_interrupt = median;
  }
  measure_parts(unicast_interrupt, trials);
  for (const named& n : all)
    if (n.exists) measure_broadcast(n.name, *n.by, trials);
  return true;
}

}  // namespace tutti::kernel
