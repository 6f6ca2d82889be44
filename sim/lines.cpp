// SPDX-License-Identifier: Apache-2.0
// What cores do to cache lines: who has a copy, who waits, and when a line comes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/thread.hpp"

namespace tutti::sim {
namespace {

constexpr std::uintptr_t line_bytes = 64;
constexpr unsigned farther_than_any = 255;

std::uint64_t read(const void* address, std::size_t size) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, address, size);
  return value;
}

std::size_t slot_of(std::uintptr_t address, std::size_t slots) noexcept {
  return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
}

}  // namespace

bool world::core_set::empty() const noexcept {
  for (const std::uint64_t word : words_)
    if (word != 0) return false;
  return true;
}

template <class Visit>
void world::core_set::each(Visit visit) const {
  for (std::size_t i = 0; i < words_.size(); ++i)
    for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
      visit(static_cast<unsigned>(64 * i) + static_cast<unsigned>(std::countr_zero(word)));
}

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
  if (drains) drain();
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

// ---- requests

void world::ask(line& l, access kind, std::uint32_t who, const void* address,
                std::size_t size) noexcept {
  put(l, {who, threads_[who]->core, kind, 0, requests_++, address, size});
}

void world::put(line& l, const request& r) noexcept {
  l.waiting.push_back(r);
  if (l.in_transit || l.serve_is_due) return;
  if (l.free_at <= now())
    serve(l);
  else
    serve_later(l);
}

void world::serve_later(line& l) noexcept {
  if (l.waiting.empty()) return;
  sim_time when = std::max(l.free_at, now());
  // The other threads of the core need not wait until it lets the line go.
  for (const request& r : l.waiting)
    if (r.core == l.owner) when = std::min(when, now() + machine_.atomic);
  l.serve_is_due = true;
  queue_.at(when, {event::kind::serve, l.number, 0});
}

std::size_t world::choose(const line& l) const noexcept {
  const auto rank = [&](const request& r) {
    const unsigned distance =
        !machine_.nearest_first || l.holder == nobody ? 0
        : r.core == no_core                           ? farther_than_any
                            : distances_[std::size_t{l.holder} * machine_.all_cores() + r.core];
    return std::pair(distance, r.order);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < l.waiting.size(); ++i)
    if (rank(l.waiting[i]) < rank(l.waiting[best])) best = i;
  return best;
}

void world::serve(line& l) noexcept {
  if (l.waiting.empty()) return;
  const std::size_t index = choose(l);
  const access kind = l.waiting[index].kind;
  if (kind == access::read || kind == access::ahead || kind == access::device_read)
    serve_reads(l);
  else if (kind == access::device_write)
    serve_device_write(l, index);
  else
    serve_change(l, index);
}

// The distance of the core that sends a copy; farther_than_any if no core has one.
unsigned world::supplier_of(const line_state& l, unsigned core) const noexcept {
  const std::uint8_t* const distances = &distances_[std::size_t{core} * machine_.all_cores()];
  if (l.owner != nobody) return distances[l.owner];
  if (l.copies.empty()) return farther_than_any;
  if (!machine_.reads_by_node) return distances[l.holder];
  unsigned best = farther_than_any;
  l.copies.each([&](unsigned other) { best = std::min<unsigned>(best, distances[other]); });
  return best;
}

// The way of a copy to a core.
sim_time world::way_to(const line_state& l, unsigned core) const noexcept {
  if (l.copies.has(core)) return machine_.hit;
  const unsigned distance = supplier_of(l, core);
  return distance == farther_than_any ? machine_.memory
                                      : machine::at_distance(machine_.transfer, distance);
}

sim_time world::pass_home(const line_state& before, const line& l, unsigned core,
                          sim_time when) noexcept {
  const std::uint8_t* const distances = &distances_[std::size_t{core} * machine_.all_cores()];
  unsigned farthest = before.copies.has(core) ? 0 : supplier_of(before, core);
  // A change also takes the copies of others away.
  if (l.in_transit && before.owner == nobody)
    before.copies.each([&](unsigned c) { farthest = std::max<unsigned>(farthest, distances[c]); });
  const unsigned least = machine_.homes_serve_clusters ? 1 : 2;
  if (farthest < least) return when;
  sim_time& home = directories_free_at_[l.directory];
  when = std::max(when, home);
  home = when + machine_.directory_busy;
  if (machine_.link_busy == 0 || farthest <= 2 || before.holder == nobody) return when;
  sim_time& link = links_free_at_[machine_.node_of_core(before.holder)];
  when = std::max(when, link);
  link = when + machine_.link_busy;
  return when;
}

sim_time world::own_time(sim_time time) const noexcept {
  const unsigned core = threads_[running_]->core;
  const bool is_small = machine_.is_small(core);
  if (machine_.sharing == 0 && !is_small) return time;
  const std::uint32_t others = threads_on_core_[core] - 1;
  const sim_time shared =
      time + static_cast<sim_time>(static_cast<double>(time) * machine_.sharing * others);
  return is_small ? static_cast<sim_time>(static_cast<double>(shared) * machine_.small_slower)
                  : shared;
}

// The time until no other core has a copy.
sim_time world::invalidation(const line& l, unsigned core) const noexcept {
  if (l.owner != nobody) return 0;
  const std::uint8_t* const distances = &distances_[std::size_t{core} * machine_.all_cores()];
  unsigned farthest = 0;
  l.copies.each([&](unsigned other) { farthest = std::max<unsigned>(farthest, distances[other]); });
  if (farthest == 0) return device_copies_.contains(&l) ? machine_.accelerator.snoop : 0;
  if (machine_.broadcasts)
    for (unsigned other = 0; other < machine_.all_cores(); other += machine_.cores_of_node())
      farthest = std::max<unsigned>(farthest, distances[other]);
  const sim_time takes = machine::at_distance(machine_.invalidate, farthest);
  return device_copies_.contains(&l) ? std::max(takes, machine_.accelerator.snoop) : takes;
}

void world::serve_change(line& l, std::size_t index) noexcept {
  l.coming = l.waiting[index];
  l.waiting.erase(l.waiting.begin() + static_cast<std::ptrdiff_t>(index));
  const std::uint32_t core = l.coming.core;
  // The store-exclusives of other cores fail, and their threads load again.
  for (request& r : l.waiting)
    if (r.kind == access::exclusive && r.core != core) r.kind = access::read;
  const sim_time takes = l.owner == core ? 0 : std::max(way_to(l, core), invalidation(l, core));
  ++transfers_;
  const line_state before = l;
  l.copies.clear();
  if (before.copies.has(core)) l.copies.add(core);
  l.owner = nobody;
  l.in_transit = true;
  take_device_copy(l);
  wake_pollers(l, core);
  const sim_time starts = before.owner == core ? now() : pass_home(before, l, core, now());
  queue_.at(starts + takes, {event::kind::arrive, l.number, 0});
}

void world::arrive(line& l) noexcept {
  const request r = l.coming;
  l.in_transit = false;
  if (r.kind == access::device_write) {
    device_request what = take_device_request(r.of_device);
    std::memcpy(const_cast<void*>(r.address), &what.value, r.size);
    l.holder = nobody;
    l.free_at = now();
    wrote(l);
    call_at(now(), std::move(what.written));
    return serve_later(l);
  }
  l.owner = l.holder = r.core;
  l.copies.add(r.core);
  l.free_at = now() + machine_.hold;
  if (r.kind == access::store) commit_stores(r.thread);
  serve_later(l);
}

// All readers that wait are served together.
void world::serve_reads(line& l) noexcept {
  std::vector<request> readers;
  std::size_t kept = 0;
  for (const request& r : l.waiting)
    if (r.kind == access::read || r.kind == access::ahead)
      readers.push_back(r);
    else if (r.kind == access::device_read)
      serve_device_read(l, r);
    else
      l.waiting[kept++] = r;
  l.waiting.resize(kept);
  if (machine_.nearest_first && l.holder != nobody) {
    const std::uint8_t* const near = &distances_[std::size_t{l.holder} * machine_.all_cores()];
    std::stable_sort(readers.begin(), readers.end(), [&](const request& a, const request& b) {
      return near[a.core] < near[b.core];
    });
  }
  const bool was_owned = l.owner != nobody;
  const line_state before = l;
  // When the next reader of a node can be served, and how long its way is.
  struct server {
    sim_time next = 0, way = 0;
    bool has_begun = false;
  };
  std::vector<server> servers(machine_.reads_by_node ? machine_.nodes : 1);
  sim_time busy = 0;
  for (const request& r : readers) {
    thread& t = *threads_[r.thread];
    const auto comes = [&](sim_time when) {
      if (r.kind == access::ahead)
        t.early.push_back({&l, when});
      else
        resume_at(r.thread, when);
    };
    if (r.kind == access::read) {
      t.polled = &l;
      t.version = l.version;
      t.value = read(r.address, r.size);
    }
    server& s = servers[machine_.reads_by_node ? machine_.node_of_core(r.core) : 0];
    if (l.copies.has(r.core)) {
      // Another thread of the core has asked before.
      comes(now() + (before.copies.has(r.core) ? machine_.hit : s.next + s.way));
      continue;
    }
    const sim_time way = way_to(before, r.core);
    // The readers of a node that has no copy yet wait for the first one's.
    if (!s.has_begun || !machine_.reads_by_node) s.way = way;
    s.has_begun = true;
    ++transfers_;
    const sim_time starts = pass_home(before, l, r.core, now() + s.next) - now();
    comes(now() + starts + s.way);
    l.copies.add(r.core);
    s.next = starts + machine_.read_gap;
    busy = std::max(busy, s.next + (was_owned ? s.way : 0));
  }
  l.owner = nobody;
  if (l.holder == nobody && !readers.empty()) l.holder = readers.front().core;
  l.free_at = now() + busy;
  serve_later(l);
}

// ---- devices

void world::ask_for_device(access kind, const void* word, device_request what) noexcept {
  if (free_device_requests_.empty()) {
    free_device_requests_.push_back(static_cast<std::uint32_t>(device_requests_.size()));
    device_requests_.emplace_back();
  }
  const std::uint32_t slot = free_device_requests_.back();
  free_device_requests_.pop_back();
  device_requests_[slot] = std::move(what);
  put(line_of(word), {nobody, no_core, kind, slot, requests_++, word, sizeof(std::uint64_t)});
}

world::device_request world::take_device_request(std::uint32_t slot) noexcept {
  free_device_requests_.push_back(slot);
  return std::move(device_requests_[slot]);
}

void world::device_read(const void* word, std::function<void(std::uint64_t)> done,
                        std::function<void()> lost) noexcept {
  ask_for_device(access::device_read, word, {0, std::move(done), std::move(lost), nullptr});
}

void world::device_write(void* word, std::uint64_t value, std::function<void()> done) noexcept {
  ask_for_device(access::device_write, word, {value, nullptr, nullptr, std::move(done)});
}

std::uint64_t world::peek(const void* word) noexcept { return read(word, sizeof(std::uint64_t)); }

bool world::device_has(const void* word) noexcept {
  return device_copies_.contains(&line_of(word));
}

// The core that may write the line keeps a copy, as for any reader.
void world::serve_device_read(line& l, const request& r) noexcept {
  ++transfers_;
  sim_time& home = directories_free_at_[l.directory];
  home = std::max(home, now()) + machine_.directory_busy;
  device_request what = take_device_request(r.of_device);
  device_copies_[&l] = std::move(what.lost);
  const std::uint64_t value = read(r.address, r.size);
  call_at(home - machine_.directory_busy, [done = std::move(what.read), value] { done(value); });
}

void world::serve_device_write(line& l, std::size_t index) noexcept {
  l.coming = l.waiting[index];
  l.waiting.erase(l.waiting.begin() + static_cast<std::ptrdiff_t>(index));
  for (request& r : l.waiting)
    if (r.kind == access::exclusive) r.kind = access::read;
  ++transfers_;
  sim_time& home = directories_free_at_[l.directory];
  const sim_time starts = std::max(home, now());
  home = starts + machine_.directory_busy;
  const sim_time takes = invalidation_from_home(l);
  l.copies.clear();
  l.owner = nobody;
  l.in_transit = true;
  take_device_copy(l);
  wake_pollers(l, nobody);
  queue_.at(starts + takes, {event::kind::arrive, l.number, 0});
}

sim_time world::invalidation_from_home(const line_state& l) const noexcept {
  // Homes are at the first core of their node.
  unsigned farthest = 0;
  l.copies.each([&](unsigned core) {
    farthest = std::max<unsigned>({farthest, 1u, distances_[core]});
  });
  return farthest == 0 ? 0 : machine::at_distance(machine_.invalidate, farthest);
}

void world::take_device_copy(line& l) noexcept {
  const auto copy = device_copies_.find(&l);
  if (copy == device_copies_.end()) return;
  if (copy->second) call_at(now(), std::move(copy->second));
  device_copies_.erase(copy);
}

}  // namespace tutti::sim
