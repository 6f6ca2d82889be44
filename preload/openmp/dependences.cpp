// SPDX-License-Identifier: Apache-2.0
// Which task waits for which. Each task has a table of the addresses on which its children depend.
// The team's lock protects the tables and the lists of successors.
#include <algorithm>
#include <unordered_map>

#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/tasks.hpp"

namespace tutti::openmp {

// Which tasks use an address: the last that writes it, and those that have read it since.
struct dependences {
  struct entry {
    task* writer = nullptr;
    std::vector<task*> readers;
    // When there are so many readers, those that have ended are taken out.
    std::size_t next_sweep = 1;
  };
  std::unordered_map<const void*, entry> of;
  // The last task that depends on all memory.
  task* of_all = nullptr;
  // When the table has so many entries, those whose tasks have all ended are taken out. A program
  // that uses fewer addresses again and again makes each entry once. An entry and the tasks that it
  // keeps take some 700 bytes.
  std::size_t next_sweep = least_to_sweep;
  static constexpr std::size_t least_to_sweep = 4096;
};

namespace {

void follow(thread& me, task& t, task* predecessor) {
  if (predecessor == nullptr || predecessor == &t || predecessor->is_done) return;
  predecessor->successors.push_back(&t);
  ++t.predecessors;
  if (ompt::is_on()) ompt::task_depends(me, *predecessor, t);
}

void replace(thread& me, task*& slot, task& t) {
  if (slot == &t) return;
  if (slot != nullptr) drop(me, slot);
  slot = &t;
  // relaxed: the caller holds a reference.
  t.references.fetch_add(1, relaxed);
}

void drop_readers(thread& me, dependences::entry& entry) {
  for (task* const reader : entry.readers) drop(me, reader);
  entry.readers.clear();
}

// Sweeps seldom enough that a reader costs a constant time on average.
void sweep_readers(thread& me, dependences::entry& entry) {
  if (entry.readers.size() < entry.next_sweep) return;
  std::size_t kept = 0;
  for (task* const reader : entry.readers) {
    if (reader->is_done)
      drop(me, reader);
    else
      entry.readers[kept++] = reader;
  }
  entry.readers.resize(kept);
  entry.next_sweep = std::max<std::size_t>(1, 2 * kept);
}

bool has_ended(const dependences::entry& entry) {
  return (entry.writer == nullptr || entry.writer->is_done) &&
         std::ranges::all_of(entry.readers, [](const task* reader) { return reader->is_done; });
}

void drop_all(thread& me, dependences::entry& entry) {
  if (entry.writer != nullptr) drop(me, entry.writer);
  drop_readers(me, entry);
}

// Sweeps seldom enough that an address costs a constant time on average.
void sweep(thread& me, dependences& table) {
  if (table.of.size() < table.next_sweep) return;
  for (auto at = table.of.begin(); at != table.of.end();) {
    if (has_ended(at->second)) {
      drop_all(me, at->second);
      at = table.of.erase(at);
    } else {
      ++at;
    }
  }
  table.next_sweep = std::max(dependences::least_to_sweep, 2 * table.of.size());
}

void add_dependence(thread& me, task& t, dependences& table, const void* address, bool writes) {
  follow(me, t, table.of_all);
  if (address == nullptr && writes) {
    for (auto& [where, entry] : table.of) {
      follow(me, t, entry.writer);
      for (task* const reader : entry.readers) follow(me, t, reader);
    }
    replace(me, table.of_all, t);
    return;
  }
  dependences::entry& entry = table.of[address];
  if (!writes) {
    follow(me, t, entry.writer);
    if (entry.writer == &t) return;
    if (!entry.readers.empty() && entry.readers.back() == &t) return;
    sweep_readers(me, entry);
    entry.readers.push_back(&t);
    // relaxed: the caller holds a reference.
    t.references.fetch_add(1, relaxed);
    return;
  }
  follow(me, t, entry.writer);
  for (task* const reader : entry.readers) follow(me, t, reader);
  drop_readers(me, entry);
  replace(me, entry.writer, t);
}

}  // namespace

void add_dependences(thread& me, task& t, std::span<const dependence> list) {
  task& parent = *t.parent;
  t.has_dependences = true;
  if (parent.depends == nullptr) parent.depends = new dependences;
  sweep(me, *parent.depends);
  for (const dependence& d : list) add_dependence(me, t, *parent.depends, d.address, d.writes);
}

void forget_if_large(thread& me, task& t) {
  if (t.depends->of.size() >= dependences::least_to_sweep) forget_dependences(me, t);
}

void forget_dependences(thread& me, task& t) {
  if (t.depends == nullptr) return;
  for (auto& [address, entry] : t.depends->of) drop_all(me, entry);
  if (t.depends->of_all != nullptr) drop(me, t.depends->of_all);
  delete t.depends;
  t.depends = nullptr;
}

}  // namespace tutti::openmp
