// SPDX-License-Identifier: Apache-2.0
// `check-events`: events between cores. `posts=N` is the number of events of each form.
#include "kernel/core/text.hpp"
#include "kernel/event/events.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {

struct alignas(cache_line) counter {
  std::atomic<native_word> value{0};
  void add(native_word n = 1) noexcept {
    // release: publishes what the action did; pairs with read().
    value.fetch_add(n, release);
  }
  u64 read() const noexcept {
    // acquire: pairs with add().
    return value.load(acquire);
  }
  // relaxed: called between two parts of the check.
  void clear() noexcept { value.store(0, relaxed); }
};

// --- a broadcast is counted once on every core

counter seen_by[machine::most_cores];

void count_here() noexcept { seen_by[machine::here().index].add(); }
void count_event(void*, rank_t, std::uintptr_t) { count_here(); }

// `send` is one broadcast to the other cores. Each next one waits until all have seen the last.
template <class Send>
void check_broadcasts(checks& all, const char* name, u64 count, Send send) {
  for (counter& c : seen_by) c.clear();
  for (u64 k = 1; k <= count; ++k) {
    send();
    for (u32 i = 1; i < cores(); ++i)
      while (seen_by[i].read() < k) machine::pause();
  }
  sleep_until(machine::ticks() + 1000 * machine::ticks_per_us());
  for (u32 i = 1; i < cores(); ++i)
    all.expect(seen_by[i].read() == count, name, ": core ", i, " counted ", seen_by[i].read(),
               " of ", count, " broadcasts");
  all.expect(seen_by[0].read() == 0, name, ": the sender counted its own broadcast");
}

// --- many senders

constexpr u32 action_kinds = 3;
struct receipt {
  u64 count = 0, newest = 0, out_of_order = 0;
};
// By receiver and sender; only the receiver's actions write it.
struct alignas(cache_line) receipts {
  receipt from[machine::most_cores];
  u64 wrong_action = 0;
  std::atomic<native_word> events{0};
};
receipts received[machine::most_cores];

void receive(void* kind, rank_t sender, std::uintptr_t payload) {
  receipts& mine = received[machine::here().index];
  receipt& r = mine.from[sender];
  ++r.count;
  if (payload != r.newest + 1) ++r.out_of_order;
  r.newest = payload;
  if (payload % action_kinds != address_of(kind)) ++mine.wrong_action;
  // release: publishes the receipt; pairs with the check's look.
  mine.events.fetch_add(1, release);
}

// All cores post to all others at once, `each` events to each of them.
void check_many_senders(checks& all, u64 each) {
  for (receipts& r : received) {
    for (receipt& from : r.from) from = {};
    r.wrong_action = 0;
    // relaxed: the events of this check follow.
    r.events.store(0, relaxed);
  }
  action_id kinds[action_kinds];
  for (u64 k = 0; k < action_kinds; ++k) kinds[k] = add_action(receive, reinterpret_cast<void*>(k));
  std::atomic<native_word> refused{0};
  run_on_cores(cores(), [&](u32 me) {
    for (u64 k = 1; k <= each; ++k)
      for (u32 to = 0; to < cores(); ++to) {
        if (to == me) continue;
        while (!post_event(to, kinds[k % action_kinds], k)) {
          // relaxed: only a count.
          refused.fetch_add(1, relaxed);
          yield();
        }
      }
  });
  for (u32 to = 0; to < cores(); ++to) {
    // acquire: pairs with receive().
    while (received[to].events.load(acquire) < each * (cores() - 1)) yield();
    for (u32 from = 0; from < cores(); ++from) {
      const receipt& r = received[to].from[from];
      all.expect(r.count == (from == to ? 0 : each), "core ", to, " received ", r.count,
                 " events of core ", from, " instead of ", each);
      all.expect(r.out_of_order == 0, "core ", to, ": ", r.out_of_order, " events of core ", from,
                 " came out of order");
    }
    all.expect(received[to].wrong_action == 0, "core ", to, " ran a wrong action");
  }
  for (const action_id id : kinds) all.expect(remove_action(id), "an action is not in the table");
  // relaxed: all threads have been joined.
  print("{\"type\":\"posted\",\"events\":", each * cores() * (cores() - 1),
        ",\"waited_for_room\":", refused.load(relaxed), "}");
}

// --- misuse: what is posted to an action that is not there, and to a core that is not there

void check_unknown(checks& all) {
  const action_id gone = add_action(count_event, nullptr);
  all.expect(remove_action(gone), "the action is not in the table");
  all.expect(!remove_action(gone), "an action was removed twice");
  // An action that was removed, and some that nobody has ever added.
  for (const action_id unknown : {gone, action_id{0}, most_actions - 1, ~action_id{0}}) {
    const u64 before = dropped_events();
    all.expect(post_event(cores() - 1, unknown, 0), "an event found no room");
    while (dropped_events() == before) machine::pause();
    all.expect(!post_event(cores(), unknown, 0), "an event went to a core that is not there");
    all.expect(dropped_events() == before + 1, "one event was dropped ", dropped_events() - before,
               " times");
    post_event(cores() - 1, unknown, 0, counting::level);
    all.expect(dropped_events() == before + 2, "a level event of no action was not dropped");
  }
}

// --- level events

struct alignas(cache_line) level_state {
  std::atomic<native_word> runs{0}, last{0};
};
level_state levels[machine::most_cores];

void note_level(void*, rank_t sender, std::uintptr_t payload) {
  // relaxed: only core 0 runs it; the last one is published below.
  levels[sender].runs.fetch_add(1, relaxed);
  // release: pairs with the check's look.
  levels[sender].last.store(payload, release);
}

void check_levels(checks& all, u64 count) {
  for (level_state& l : levels) {
    // relaxed: the events of this check follow.
    l.runs.store(0, relaxed);
    l.last.store(0, relaxed);
  }
  const action_id id = add_action(note_level, nullptr);
  run_on_cores(cores(), [&](u32 me) {
    if (me == 0) return;
    for (u64 k = 1; k <= count; ++k) post_event(0, id, k, counting::level);
  });
  for (u32 from = 1; from < cores(); ++from) {
    // acquire: pairs with note_level().
    while (levels[from].last.load(acquire) < count) yield();
    // relaxed: the acquire above has brought it.
    const u64 runs = levels[from].runs.load(relaxed);
    all.expect(runs >= 1 && runs <= count, "core ", from, ": ", count, " raises ran ", runs,
               " times");
  }
  all.expect(remove_action(id), "the level action is not in the table");
}

// --- an action is removed while events for it are under way

struct removal {
  std::atomic<bool> is_gone{false};
  std::atomic<native_word> runs{0}, late{0};
};

void run_or_be_late(void* argument, rank_t, std::uintptr_t) {
  removal& r = *static_cast<removal*>(argument);
  // relaxed: remove_action() orders it.
  if (r.is_gone.load(relaxed)) r.late.fetch_add(1, relaxed);
  // relaxed: only a count.
  r.runs.fetch_add(1, relaxed);
}

void check_removal(checks& all, u64 rounds) {
  std::atomic<u32> id{0};
  std::atomic<bool> is_over{false};
  u64 late = 0, runs = 0;
  const u64 dropped_before = dropped_events();
  u64 sent[machine::most_cores] = {};
  run_on_cores(cores(), [&](u32 me) {
    if (me != 0) {
      // relaxed: an old id is what this test is about.
      while (!is_over.load(relaxed)) {
        const action_id now = id.load(relaxed);
        if (now == 0 || !post_event(me == 1 ? cores() - 1 : 1, now, 0)) {
          yield();
          continue;
        }
        ++sent[me];
      }
      return;
    }
    for (u64 k = 0; k < rounds; ++k) {
      removal round;
      // relaxed: the table publishes the action; the number alone travels here, and counts are read
      // after the removal, which waits for the action's end.
      id.store(add_action(run_or_be_late, &round), relaxed);
      for (u64 wait = 0; round.runs.load(relaxed) == 0 && wait < 100'000; ++wait) machine::pause();
      all.expect(remove_action(id.load(relaxed)), "an action is not in the table");
      round.is_gone.store(true, relaxed);
      for (int i = 0; i < 20; ++i) machine::pause();
      late += round.late.load(relaxed);
      runs += round.runs.load(relaxed);
    }
    is_over.store(true, relaxed);
  });
  sleep_until(machine::ticks() + 2000 * machine::ticks_per_us());
  u64 all_sent = 0;
  for (const u64 s : sent) all_sent += s;
  const u64 dropped = dropped_events() - dropped_before;
  all.expect(late == 0, late, " events ran after their action was removed");
  all.expect(runs + dropped == all_sent, all_sent, " events were posted, ", runs, " ran and ",
             dropped, " were dropped");
  all.expect(runs > 0, "no event ran before its action was removed");
}

void count_interrupt() noexcept { count_here(); }
[[maybe_unused]] void count_call(native_word) noexcept { count_here(); }

// Events through the tables.
void check_tables(checks& all, const char* name, u64 posts, u64 broadcasts) {
  const action_id id = add_action(count_event, nullptr);
  check_broadcasts(all, name, broadcasts, [&] { broadcast_event(id, 0); });
  check_broadcasts(all, name, broadcasts, [&] { broadcast_event(id, 0, counting::level); });
  all.expect(remove_action(id), "the action is not in the table");
  check_unknown(all);
  const u64 pairs = u64{cores()} * (cores() - 1);
  check_many_senders(all, (posts + pairs - 1) / pairs);
  check_levels(all, posts / cores());
  if (cores() > 2) check_removal(all, posts / 1'000 + 10);
}

}  // namespace

bool check_events(const char* line) {
  const u64 posts = text::number_of(line, "posts", 100'000);
  checks all;
  start_events();
  all.expect(cores() >= 2, "events need two cores");
  if (cores() < 2) return all.report("check-events");

  const u64 broadcasts = text::number_of(line, "broadcasts", 2'000);
  check_tables(all, "event", posts, broadcasts);
  on_single_event(count_here);
  check_broadcasts(all, "single event", broadcasts, [] { broadcast_single_event(); });
  constexpr u8 own_interrupt = 0x50;
  machine::on_interrupt(own_interrupt, count_interrupt);
  check_broadcasts(all, "interrupt", broadcasts, [] { machine::interrupt_others(own_interrupt); });
  if constexpr (machine::has_remote_calls) {
    machine::on_remote_call(count_call);
    check_broadcasts(all, "remote call", broadcasts, [] { machine::call_others(); });
    tell_by(told_by::remote_call);
    check_tables(all, "event by remote call", posts, broadcasts);
    tell_by(told_by::interrupt);
  }
  return all.report("check-events");
}

}  // namespace tutti::kernel
