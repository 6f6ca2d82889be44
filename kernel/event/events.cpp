// SPDX-License-Identifier: Apache-2.0
#include "kernel/event/events.hpp"

#include "kernel/core/memory.hpp"
#include "kernel/core/panic.hpp"

namespace tutti::kernel {

namespace {

// Handlers change the table of actions too, so its lock is one of the kernel's own data.
struct handler_memory : memory {
  class mutex {
   public:
    void lock() noexcept {
      const bool were_on = machine::are_interrupts_on();
      machine::interrupts_off();
      lock_.lock();
      were_on_ = were_on;
    }
    void unlock() noexcept {
      const bool were_on = were_on_;
      lock_.unlock();
      if (were_on) machine::interrupts_on();
    }

   private:
    spin_lock lock_;
    bool were_on_ = false;
  };
};

using inbox = event_inbox<memory>;
using table = action_table<handler_memory>;
// One for each core, in its node's memory if the node has any.
// Lines that are only read when events are under way.
alignas(cache_line) inbox* inboxes[machine::most_cores];
table* actions;

struct alignas(cache_line) drop_count {
  u64 value = 0;
};
drop_count drops[machine::most_cores];

told_by telling = told_by::interrupt;

void tell(u32 core) noexcept {
  if constexpr (machine::has_remote_calls)
    if (telling == told_by::remote_call) return machine::call_core(core);
  machine::interrupt_core(core, machine::event_interrupt);
}
void tell_others() noexcept {
  if constexpr (machine::has_remote_calls)
    if (telling == told_by::remote_call) return machine::call_others();
  machine::interrupt_others(machine::event_interrupt);
}

posted post(u32 core, u32 sender, action_id action, u64 payload, counting how) noexcept {
  return how == counting::each ? inboxes[core]->post(sender, action, payload)
                               : inboxes[core]->raise(sender, action, payload);
}

// Drops a level event for `receivers` cores, and returns true, if its action is not in the table.
bool drop_level(u32 sender, action_id action, counting how, u32 receivers) noexcept {
  if (how == counting::each || actions->has(action)) [[likely]]
    return false;
  drops[sender].value += receivers;
  return true;
}

void on_events() noexcept { take_events(); }
[[maybe_unused]] void on_call(native_word) noexcept { take_events(); }

}  // namespace

void start_events(u32 capacity) noexcept {
  if (actions != nullptr) return;
  for (u32 i = 0; i < cores(); ++i) {
    void* place = allocate_near(core_of(i).node, alignof(inbox), sizeof(inbox));
    inboxes[i] = new (place) inbox(cores(), capacity);
  }
  actions = new (allocate_aligned(alignof(table), sizeof(table))) table(cores());
  machine::on_interrupt(machine::event_interrupt, on_events);
}

void tell_by(told_by how) noexcept {
  if constexpr (machine::has_remote_calls) {
    telling = how;
    if (how == told_by::remote_call) machine::on_remote_call(on_call);
  } else if (how == told_by::remote_call) {
    panic("this machine has no remote calls");
  }
}

action_id add_action(event_action act, void* argument) noexcept {
  return actions->add(act, argument);
}

bool remove_action(action_id action) noexcept {
  // With interrupts on: this core may have to run events for the others to get on.
  return actions->remove(action, machine::are_interrupts_on() ? any_rank : index_here());
}

bool post_event(u32 core, action_id action, u64 payload, counting how) noexcept {
  if (core >= cores()) return false;
  // A handler of this core may post too.
  const without_interrupts off;
  const u32 me = index_here();
  if (drop_level(me, action, how, 1)) return true;
  const posted p = post(core, me, action, payload, how);
  if (p == posted::first) tell(core);
  return p != posted::refused;
}

u32 broadcast_event(action_id action, u64 payload, counting how) noexcept {
  const without_interrupts off;
  const u32 me = index_here(), count = cores();
  if (drop_level(me, action, how, count - 1)) return 0;
  u32 refused = 0, to_tell = 0;
  for (u32 i = 0; i < count; ++i) {
    if (i == me) continue;
    const posted p = post(i, me, action, payload, how);
    refused += p == posted::refused ? 1 : 0;
    to_tell += p == posted::first ? 1 : 0;
  }
  // A core that has been told already finds nothing.
  if (to_tell > 0) tell_others();
  return refused;
}

u32 take_events() noexcept {
  const without_interrupts off;
  const u32 me = index_here();
  return inboxes[me]->take([me](rank_t sender, action_id action, std::uintptr_t payload) {
    if (!actions->run(me, sender, action, payload)) ++drops[me].value;
  });
}

void on_single_event(machine::handler act) noexcept { machine::on_shortcut(act); }
void send_single_event(u32 core) noexcept {
  machine::interrupt_core(core, machine::shortcut_interrupt);
}
void broadcast_single_event() noexcept { machine::interrupt_others(machine::shortcut_interrupt); }

u64 dropped_events() noexcept {
  u64 sum = 0;
  for (u32 i = 0; i < cores(); ++i) sum += drops[i].value;
  return sum;
}

}  // namespace tutti::kernel
