// SPDX-License-Identifier: Apache-2.0
// What threads do to cache lines: loads, stores, read-modify-writes, polls.
#include <algorithm>
#include <cstring>

#include "sim/thread.hpp"

namespace tutti::sim {
namespace {

constexpr std::uintptr_t line_bytes = 64;

std::size_t slot_of(std::uintptr_t address, std::size_t slots) noexcept {
  return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
}

}  // namespace

// ---- lines by address

void world::make_room() noexcept {
  std::vector<place> old(std::max<std::size_t>(1024, 2 * places_.size()));
  old.swap(places_);
  for (const place& p : old) {
    if (p.at == nullptr) continue;
    std::size_t slot = slot_of(p.address, places_.size());
    while (places_[slot].at != nullptr) slot = (slot + 1) & (places_.size() - 1);
    places_[slot] = p;
  }
}

world::line& world::line_of(const void* address) noexcept {
  const std::uintptr_t wanted = reinterpret_cast<std::uintptr_t>(address) / line_bytes;
  if (2 * lines_.size() >= places_.size()) make_room();
  std::size_t slot = slot_of(wanted, places_.size());
  while (places_[slot].at != nullptr) {
    if (places_[slot].address == wanted) return *places_[slot].at;
    slot = (slot + 1) & (places_.size() - 1);
  }
  // Numbers follow the first uses, so that a run does not depend on addresses.
  line& made = lines_.emplace_back();
  made.number = static_cast<std::uint32_t>(lines_.size() - 1);
  const std::uint32_t homes = machine_.homes_in_all_nodes ? machine_.nodes : 1;
  made.directory = made.number % (homes * machine_.directories);
  places_[slot] = {wanted, &made};
  return made;
}

// ---- operations of threads

std::uint64_t world::load(const void* address, std::size_t size) noexcept {
  thread& t = me();
  line& l = line_of(address);
  ++t.loads;
  if (machine_.banks > 0) {
    use_bank(l, address, machine_.bank_access);
    t.polled = &l;
    const std::uint64_t value = t.value = read(address, size);
    spend(way_to_bank(bank_of(l, address)));
    return value;
  }
  if (t.loaded_last != nullptr && t.loaded_last != &l && machine_.loads_ahead > 1)
    t.followers[t.loaded_last->number] = &l;
  t.loaded_last = &l;
  const auto mine = std::find_if(t.stores.rbegin(), t.stores.rend(), [&](const pending_store& s) {
    const char* const stored = static_cast<const char*>(s.address);
    const char* const wanted = static_cast<const char*>(address);
    return s.at == &l && stored < wanted + size && wanted < stored + s.size;
  });
  const bool is_forwarded =
      mine != t.stores.rend() && mine->address == address && mine->size == size;
  if (is_forwarded || (mine == t.stores.rend() && l.copies.has(t.core))) {
    sim_time takes = own_time(machine_.hit);
    for (std::size_t i = 0; i < t.early.size(); ++i) {
      if (t.early[i].at != &l) continue;
      if (t.early[i].comes_at > now()) takes = std::max(takes, t.early[i].comes_at - now());
      t.early.erase(t.early.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    t.polled = &l;
    t.version = l.version;
    t.value = is_forwarded ? mine->value : read(address, size);
    // Another thread may use this one's copy before the time has passed; the value stays.
    const std::uint64_t value = t.value;
    spend(takes);
    return value;
  }
  // The thread's own store to the line comes first.
  if (std::any_of(t.stores.begin(), t.stores.end(),
                  [&](const pending_store& s) { return s.at == &l; }))
    drain();
  if (l.copies.has(t.core)) {
    t.polled = &l;
    t.version = l.version;
    t.value = read(address, size);
    spend(own_time(machine_.hit));
    return t.value;
  }
  wait_for_line(l, access::read, address, size);
  return t.value;
}

void world::store(void* address, std::uint64_t value, std::size_t size, bool drains) noexcept {
  constexpr std::size_t most_pending = 40;
  thread& t = me();
  ++t.others;
  line& l = line_of(address);
  if (machine_.banks > 0) {
    use_bank(l, address, machine_.bank_access);
    if (size != 0) std::memcpy(address, &value, size);
    return;
  }
  if (t.stores.size() >= most_pending) drain();
  t.stores.push_back({&l, address, value, size, false});
  if (t.stores.front().at->owner == t.core)
    commit_stores(t.number);
  else
    ask_for_stores(t.number);
  spend(own_time(machine_.hit));
  if (drains || machine_.waits_for_stores) drain();
}

void world::read_data(const void* data, std::size_t size) noexcept {
  thread& t = me();
  const auto first = reinterpret_cast<std::uintptr_t>(data) / line_bytes;
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + size - 1) / line_bytes;
  for (std::uintptr_t at = first; at <= last; ++at) {
    const void* const address = reinterpret_cast<const void*>(at * line_bytes);
    const line& l = line_of(address);
    // What the thread has just written it reads from its store buffer.
    if (std::any_of(t.stores.begin(), t.stores.end(),
                    [&](const pending_store& s) { return s.at == &l && s.size == 0; }))
      spend(own_time(machine_.hit));
    else
      load(address, 1);
  }
}

void world::write_data(void* data, std::size_t size) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(data) / line_bytes;
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + size - 1) / line_bytes;
  for (std::uintptr_t at = first; at <= last; ++at)
    store(reinterpret_cast<void*>(at * line_bytes), 0, 0, false);
}

void world::own(const void* address) noexcept {
  thread& t = me();
  ++t.others;
  t.loaded_last = nullptr;
  drain();
  line& l = line_of(address);
  if (machine_.banks > 0) return use_bank(l, address, machine_.bank_atomic);
  if (!machine_.exclusive_pairs) {
    if (l.owner != t.core) wait_for_line(l, access::change, address, 0);
    return;
  }
  while (l.owner != t.core) {
    if (!l.copies.has(t.core)) wait_for_line(l, access::read, address, 1);
    // It comes back with a copy only, by serve_change(), if the store-exclusive fails.
    if (l.owner != t.core) wait_for_line(l, access::exclusive, address, 1);
  }
}

void world::change_done(const void* address, bool has_changed) noexcept {
  line& l = line_of(address);
  if (has_changed) wrote(l);
  spend(machine_.banks > 0 ? way_to_bank(bank_of(l, address)) : own_time(machine_.atomic));
}

void world::fence() noexcept {
  ++me().others;
  me().loaded_last = nullptr;
  drain();
  spend(own_time(machine_.fence));
}

void world::relax() noexcept {
  thread& t = me();
  const bool polls = options_.skips_polls && t.loads == 1 && t.others == 0;
  t.loads = t.others = 0;
  t.loaded_last = nullptr;
  if (polls)
    poll_later(options_.poll_gap);
  else
    spend(options_.poll_gap);
}

void world::wait_for_change() noexcept {
  thread& t = me();
  t.loaded_last = nullptr;
  t.loads = t.others = 0;
  poll_later(0);
}

void world::poll_later(sim_time gap) noexcept {
  thread& t = me();
  line& l = *t.polled;
  // The line has changed since the poll, or another thread wants the CPU.
  if (l.version != t.version || !l.copies.has(t.core) || processors_[t.cpu].must_switch)
    return spend(gap);
  t.poll_gap = gap;
  t.polls_since = t.since = now();
  t.state = doing::polls;
  t.has_work = false;
  l.pollers.push_back(t.number);
  dispatch();
  note_wait(waiting_time::reason::poll, l, waiting_time::no_core);
}

void world::wait_for_line(line& l, access kind, const void* address, std::size_t size) noexcept {
  thread& t = me();
  t.waits_for = &l;
  t.wants = kind;
  t.since = now();
  const std::uint32_t had_it = l.owner != nobody ? l.owner : l.holder;
  const auto early = std::find_if(l.waiting.begin(), l.waiting.end(), [&](const request& r) {
    return r.thread == t.number && r.kind == access::ahead;
  });
  if (kind == access::read && early != l.waiting.end()) {
    early->kind = access::read;
    early->address = address;
    early->size = size;
  } else {
    ask(l, kind, t.number, address, size);
  }
  if (kind == access::read) load_ahead(l);
  dispatch();
  note_wait(kind == access::read ? waiting_time::reason::read : waiting_time::reason::change, l,
            had_it);
  t.waits_for = nullptr;
}

// The core goes on while the line is on its way, and begins the loads that followed the last time.
void world::load_ahead(line& missing) noexcept {
  thread& t = me();
  std::erase_if(t.early, [&](const thread::early_line& e) { return e.comes_at <= now(); });
  const line* last = &missing;
  for (unsigned i = 1; i < machine_.loads_ahead; ++i) {
    const auto next = t.followers.find(last->number);
    if (next == t.followers.end() || next->second == &missing) return;
    line& l = *next->second;
    last = &l;
    const bool is_coming =
        std::any_of(t.early.begin(), t.early.end(), [&](const auto& e) { return e.at == &l; }) ||
        std::any_of(l.waiting.begin(), l.waiting.end(),
                    [&](const request& r) { return r.thread == t.number; });
    if (!is_coming && !l.copies.has(t.core)) ask(l, access::ahead, t.number, nullptr, 0);
  }
}

void world::drain() noexcept {
  thread& t = me();
  if (t.stores.empty()) return;
  t.drains = true;
  t.since = now();
  const line& first = *t.stores.front().at;
  const std::uint32_t had_it = first.owner != nobody ? first.owner : first.holder;
  dispatch();
  t.drains = false;
  note_wait(waiting_time::reason::stores, first, had_it);
}

void world::note_wait(waiting_time::reason why, const line& l, std::uint32_t core) noexcept {
  const thread& t = me();
  if (options_.timeline != nullptr && now() > t.since)
    options_.timeline->push_back({t.number, l.number, core, why, t.since, now(), t.site});
}

// Does the stores of a thread, in their order, whose lines have come.
void world::commit_stores(std::uint32_t who) noexcept {
  thread& t = *threads_[who];
  while (!t.stores.empty() && t.stores.front().at->owner == t.core) {
    const pending_store s = t.stores.front();
    if (s.size != 0) std::memcpy(s.address, &s.value, s.size);
    t.stores.erase(t.stores.begin());
    wrote(*s.at);
  }
  if (!t.stores.empty())
    ask_for_stores(who);
  else if (t.drains)
    resume_at(who, now());
}

// Asks for the lines of the oldest stores.
void world::ask_for_stores(std::uint32_t who) noexcept {
  thread& t = *threads_[who];
  unsigned lines = 0;
  for (std::size_t i = 0; i < t.stores.size() && lines < machine_.stores_ahead; ++i) {
    line& l = *t.stores[i].at;
    if (std::any_of(t.stores.begin(), t.stores.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const pending_store& s) { return s.at == &l; }))
      continue;
    ++lines;
    if (l.owner == t.core) continue;
    // A line that came before its turn may have left again; the first store asks for it again.
    const bool is_coming =
        i != 0 ? t.stores[i].is_asked_for
               : (l.in_transit && l.coming.thread == who) ||
                     std::any_of(l.waiting.begin(), l.waiting.end(), [&](const request& r) {
                       return r.thread == who && r.kind == access::store;
                     });
    if (is_coming) continue;
    t.stores[i].is_asked_for = true;
    ask(l, access::store, who, t.stores[i].address, t.stores[i].size);
  }
}

void world::wrote(line& l) noexcept {
  ++l.version;
  wake_pollers(l, nobody);
}

void world::wake_pollers(line& l, std::uint32_t except_core) noexcept {
  std::size_t kept = 0;
  for (const std::uint32_t who : l.pollers) {
    thread& t = *threads_[who];
    if (t.core == except_core) {
      l.pollers[kept++] = who;
      continue;
    }
    t.state = doing::runs;
    t.has_work = true;
    if (!t.is_on_cpu) continue;
    const sim_time period = t.poll_gap == 0 ? 1 : t.poll_gap + machine_.hit;
    sim_time next = t.polls_since + t.poll_gap;
    if (next < now()) next += (now() - next + period - 1) / period * period;
    resume_at(who, next);
  }
  l.pollers.resize(kept);
}

// ---- words in banks

std::size_t world::bank_of(const line& l, const void* address) const noexcept {
  constexpr std::size_t word_bytes = 4;
  const std::size_t at = reinterpret_cast<std::uintptr_t>(address) % line_bytes;
  return (line_bytes * l.number + at) / word_bytes % banks_free_at_.size();
}

sim_time world::way_to_bank(std::size_t bank) const noexcept {
  const std::size_t nearest_core = bank / machine_.banks * machine_.cores;
  const unsigned distance =
      distances_[std::size_t{threads_[running_]->core} * machine_.all_cores() + nearest_core];
  return (machine::at_distance(machine_.transfer, distance) - machine_.bank_access) / 2;
}

void world::use_bank(line& l, const void* address, sim_time busy) noexcept {
  thread& t = me();
  t.since = now();
  const std::size_t bank = bank_of(l, address);
  spend(way_to_bank(bank));
  sim_time& free_at = banks_free_at_[bank];
  free_at = std::max(free_at, now()) + busy;
  ++transfers_;
  spend(free_at - now());
  note_wait(waiting_time::reason::read, l, waiting_time::no_core);
}

}  // namespace tutti::sim
