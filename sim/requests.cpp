// SPDX-License-Identifier: Apache-2.0
// Requests for cache lines, of cores and of devices: who is served, who loses a copy, and when a
// line comes.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "sim/thread.hpp"

namespace tutti::sim {
namespace {

constexpr unsigned farther_than_any = 255;

}  // namespace

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
    const bool polls =
        machine_.changes_first && (r.kind == access::read || r.kind == access::ahead);
    return std::tuple(polls, distance, r.order);
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

// The core that sends a copy; nobody if no core has one.
std::uint32_t world::supplier_of(const line_state& l, unsigned core) const noexcept {
  if (l.owner != nobody) return l.owner;
  if (l.copies.empty()) return nobody;
  if (!machine_.reads_by_node) return l.holder;
  const std::uint8_t* const distances = &distances_[std::size_t{core} * machine_.all_cores()];
  std::uint32_t best = nobody;
  l.copies.each([&](unsigned other) {
    if (best == nobody || distances[other] < distances[best]) best = other;
  });
  return best;
}

// Homes are at the first core of their node.
std::size_t world::home_of(const line& l) const noexcept {
  return std::size_t{l.directory / machine_.directories} * machine_.cores_of_node();
}

// A request's way to another core and back. Where the home serves all requests, it goes to the home
// first, from there to the other core, and then back: half of each of the three ways to and fro.
// Where the home is beside one of the two cores, that is their own way to and fro.
sim_time world::way_between(const line_times& times, const line& l, unsigned core,
                            unsigned other) const noexcept {
  const auto way = [&](unsigned a, unsigned b) {
    return machine::at_distance(times, distances_[std::size_t{a} * machine_.all_cores() + b]);
  };
  const sim_time direct = way(core, other);
  if (!machine_.homes_serve_clusters) return direct;
  const auto home = static_cast<unsigned>(home_of(l));
  const sim_time three = way(core, home) + way(home, other) + direct;
  return std::max(direct, (three - std::min(three, times.cluster)) / 2);
}

// The way of a copy to a core. `before`: the line's state when it asked.
sim_time world::way_to(const line_state& before, const line& l, unsigned core) const noexcept {
  if (before.copies.has(core)) return machine_.hit;
  const std::uint32_t supplier = supplier_of(before, core);
  return supplier == nobody ? machine_.memory : way_between(machine_.transfer, l, core, supplier);
}

sim_time world::pass_home(const line_state& before, const line& l, unsigned core,
                          sim_time when) noexcept {
  const std::uint8_t* const distances = &distances_[std::size_t{core} * machine_.all_cores()];
  const std::uint32_t supplier = supplier_of(before, core);
  unsigned farthest = before.copies.has(core) ? 0
                      : supplier == nobody    ? farther_than_any
                                              : distances[supplier];
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
  sim_time takes = 0;
  unsigned copies = 0;
  l.copies.each([&](unsigned other) {
    if (other == core) return;
    takes = std::max(takes, way_between(machine_.invalidate, l, core, other));
    ++copies;
  });
  if (copies == 0) return device_copies_.contains(&l) ? machine_.accelerator.snoop : 0;
  if (machine_.broadcasts)
    for (unsigned other = 0; other < machine_.all_cores(); other += machine_.cores_of_node())
      takes = std::max(takes, way_between(machine_.invalidate, l, core, other));
  takes += (copies - 1) * machine_.invalidate_gap;
  return device_copies_.contains(&l) ? std::max(takes, machine_.accelerator.snoop) : takes;
}

void world::serve_change(line& l, std::size_t index) noexcept {
  l.coming = l.waiting[index];
  l.waiting.erase(l.waiting.begin() + static_cast<std::ptrdiff_t>(index));
  const std::uint32_t core = l.coming.core;
  // The store-exclusives of other cores fail, and their threads load again.
  for (request& r : l.waiting)
    if (r.kind == access::exclusive && r.core != core) r.kind = access::read;
  const sim_time takes = l.owner == core ? 0 : std::max(way_to(l, l, core), invalidation(l, core));
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
    const sim_time way = way_to(before, l, r.core);
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

sim_time world::invalidation_from_home(const line& l) const noexcept {
  const std::uint8_t* const distances = &distances_[home_of(l) * machine_.all_cores()];
  unsigned farthest = 0;
  l.copies.each([&](unsigned core) {
    farthest = std::max<unsigned>({farthest, 1u, distances[core]});
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
