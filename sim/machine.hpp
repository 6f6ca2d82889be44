// SPDX-License-Identifier: Apache-2.0
// A machine that a world (world.hpp) simulates: its cores, its caches, what a cache line's way
// takes, and what its operating system takes. machine_file.hpp reads one from a file.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/events.hpp"

namespace tutti::sim {

// Times between cores are in picoseconds.
constexpr sim_time picoseconds(double ns) { return static_cast<sim_time>(ns * 1000 + 0.5); }
constexpr double nanoseconds(sim_time ps) { return static_cast<double>(ps) / 1000; }

// Which CPU has which number. Thread i of a program runs on CPU i.
enum class cpu_numbering {
  // One CPU of each core, node by node; the siblings follow in the same order.
  cores_first,
  // The siblings of a core follow each other.
  siblings_adjacent,
  // Neighbouring numbers are in different nodes; the siblings follow at the end.
  nodes_in_turn,
};

// What a line's way takes, by the distance between two cores.
struct line_times {
  sim_time cluster = 0, node = 0;
  // By the number of hops between two nodes, or of small cores at the two ends, counted from 1.
  std::vector<sim_time> hops;
};

struct machine {
  // The unit of the times in its file is "ns" or "cycles".
  std::string name, description, unit;
  // Cycles are printed at this rate.
  double clock_ghz = 1;

  // ---- where the CPUs are
  unsigned nodes = 1;
  unsigned clusters = 1;  // in a node
  unsigned cores = 1;     // in a cluster
  unsigned threads = 1;   // of a core
  cpu_numbering numbering = cpu_numbering::cores_first;
  // From node to node.
  std::vector<std::vector<unsigned>> hops;
  // Cores of a second class, in clusters of their own behind those of the only node, each with one
  // thread. What a core does by itself takes so many times as long on them.
  unsigned small_clusters = 0, small_cores = 0;
  double small_slower = 1;

  // ---- memory without caches: words in banks at the clusters, neighbouring words in neighbouring
  // banks. What follows about cache lines does not hold then, but for `transfer`: an access of a
  // bank and back, by its distance. 0 banks: a machine with caches.
  unsigned banks = 0;  // at a cluster
  // A bank is busy for so long with a load or store, and with a read-modify-write.
  sim_time bank_access = 0, bank_atomic = 0;

  // ---- one cache line
  // From the core that has it to the core that wants it.
  line_times transfer;
  // Until the copies of other cores are gone; the farthest one counts.
  line_times invalidate;
  // So much longer for each copy but the first.
  sim_time invalidate_gap = 0;
  // Every invalidation asks all nodes, with copies or without.
  bool broadcasts = false;
  // A line that no cache has.
  sim_time memory = 0;
  // A core keeps a line for so long after it came for a write.
  sim_time hold = 0;
  // Readers that wait for the same line are served one after the other, so far apart.
  sim_time read_gap = 0;
  // A node's cache serves the readers of that node while another serves those of another node.
  bool reads_by_node = true;
  // The nearest of the requests that wait for a line is served first; otherwise the oldest is.
  bool nearest_first = true;
  // Those that change it are served before those that read it.
  bool changes_first = false;

  // ---- the homes of lines, which know or ask who has copies. A request that leaves a cluster
  // occupies a directory of the line's home for so long, and those of all its lines wait for each
  // other. Neighbouring lines are at different directories.
  sim_time directory_busy = 0;
  unsigned directories = 1;  // in a node
  // Whether the nodes are homes in turn. Otherwise the first one is, where a thread made all
  // objects.
  bool homes_in_all_nodes = false;
  // No cache of a cluster knows what its cores have, so that requests inside a cluster ask the
  // home.
  bool homes_serve_clusters = false;
  // A line that leaves a node occupies the links of that node for so long.
  sim_time link_busy = 0;

  // ---- a core
  // The most lines of stores, and of loads, that are on their way to a core at the same time.
  unsigned stores_ahead = 10, loads_ahead = 1;
  // How much longer an operation of its own cache takes for each other thread that runs on the
  // core: 0.5 is half as long again.
  double sharing = 0;
  sim_time hit = 0;     // a load or store of its own cache
  sim_time atomic = 0;  // a read-modify-write of its own cache
  // A read-modify-write is a loop of a load-exclusive, which gets a copy, and a store-exclusive,
  // which fails if another core changes the line before it has come.
  bool exclusive_pairs = false;
  sim_time fence = 0;
  // A thread waits for each of its stores: there is no store buffer.
  bool waits_for_stores = false;
  // Its atomic instructions have 32 bits: a word of 64 has a lock beside it, on the same line.
  bool is_narrow = false;
  // How much longer an arrival takes after other work, which has left neither the barrier's
  // instructions nor its lines near the core.
  sim_time cold = 0;
  sim_time clock = 0;  // reading the clock
  sim_time pause = 0;  // the instruction between polls of programs that have just that
  // What tutti's platform does between two polls; native code waits for 40 ns.
  sim_time poll_gap = picoseconds(40);

  // ---- the operating system
  sim_time slice = 0;           // how long a thread runs while others wait for its CPU
  sim_time tick = 0;            // slices end at multiples of this; 0: at any time
  sim_time tick_offset = 0;     // how far apart the ticks of neighbouring CPUs are
  sim_time tick_work = 0;       // what the timer's interrupt takes from the thread that runs
  sim_time context_switch = 0;  // from one thread to another
  sim_time yield = 0;           // a call that finds no other thread
  sim_time futex_wait = 0;      // the call, until the CPU is free
  sim_time futex_wake = 0;      // the call, and again for each thread that it wakes
  // A futex call has the kernel's lock of its word for so long, times the number of threads that
  // spin on the lock: each sees every change of it.
  sim_time futex_lock = 0;
  sim_time wake_up = 0;  // until a woken thread runs on a CPU that was idle
  // The same if it was idle for so long at least, and in between in proportion. 0: no difference.
  sim_time deep_wake_up = 0, deep_after = 0;
  // How long a thread that wakes another on another CPU is kept by the interrupt that it sends.
  sim_time wake_interrupt = 0;
  // Until a running thread leaves its CPU for one that another CPU has woken.
  sim_time displace = 0;

  // ---- a barrier unit of each cluster
  bool has_barrier_units = false;
  sim_time unit_arrive = 0;  // from a core's write until the unit knows
  sim_time unit_leave = 0;   // from the unit until a core has read that it may go on

  // ---- an accelerator behind a link, with a barrier unit
  bool has_accelerator = false;
  struct accelerator_part {
    sim_time cycle = 0;
    // The unit has seats for so many.
    unsigned threads = 0;
    // The most requests of each kind that are on the link at the same time: accesses of registers,
    // reads of lines, and writes.
    unsigned requests = 0;
    // Between a core's register access and the accelerator's, and between that and its answer.
    sim_time request = 0, answer = 0;
    // A read of a line until it has come, of one that the accelerator's cache has, and until the
    // accelerator's copy is gone.
    sim_time read = 0, cached = 0, snoop = 0;
    // From the accelerator to the home of a line that it writes, by channel.
    sim_time vl0 = 0, vh0 = 0, vh1 = 0;
  };
  accelerator_part accelerator;

  // ---- the Hardware Barrier Structure of Hetland et al. 2019, section 4
  bool has_structures = false;
  // The nodes of a socket, which has one structure.
  unsigned nodes_of_structure = 1;
  // From a core to the structure and back, and from one structure to another.
  sim_time structure_access = 0, structure_link = 0;

  // ---- interrupts between processors, for a kernel that a machine runs instead
  bool has_interrupts = false;
  sim_time interrupt_send = 0;  // writing the registers of the interrupt controller
  // From one controller to the other; of the same core as of the same cluster.
  line_times interrupt_way;
  sim_time interrupt_enter = 0;  // from its arrival until the handler's first instruction
  sim_time system_call = 0;      // entering the kernel by an instruction, to compare
  // The background thread of a CPU of that kernel calls yield() so far apart.
  sim_time background = 0;

  // The time of so many ns between two polls, or the machine's own if they are below 0.
  sim_time poll_gap_or(double ns) const { return ns < 0 ? poll_gap : picoseconds(ns); }

  unsigned cores_of_node() const { return clusters * cores + small_clusters * small_cores; }
  unsigned all_cores() const { return nodes * cores_of_node(); }
  unsigned cpus() const {
    return nodes * (clusters * cores * threads + small_clusters * small_cores);
  }
  bool is_small(unsigned core) const { return small_clusters > 0 && core >= clusters * cores; }

  // The core of a CPU, counted node by node and cluster by cluster.
  unsigned core_of_cpu(unsigned cpu) const {
    if (numbering == cpu_numbering::siblings_adjacent) {
      const unsigned with_siblings = nodes * clusters * cores * threads;
      return cpu < with_siblings ? cpu / threads : with_siblings / threads + cpu - with_siblings;
    }
    const unsigned place = cpu % all_cores();
    if (numbering == cpu_numbering::cores_first) return place;
    return place % nodes * cores_of_node() + place / nodes;
  }
  unsigned cluster_of_core(unsigned core) const {
    return is_small(core) ? clusters + (core - clusters * cores) / small_cores : core / cores;
  }
  unsigned node_of_core(unsigned core) const { return core / cores_of_node(); }
  unsigned hops_between(unsigned node, unsigned other) const {
    return node == other ? 0 : hops.empty() ? 1 : hops[node][other];
  }
  // 0: the same core; 1: the same cluster; 2: the same node; more: hops, or small cores.
  unsigned distance(unsigned core, unsigned other) const {
    if (core == other) return 0;
    if (cluster_of_core(core) == cluster_of_core(other)) return 1;
    if (small_clusters > 0) return 2 + (is_small(core) ? 1 : 0) + (is_small(other) ? 1 : 0);
    return 2 + hops_between(node_of_core(core), node_of_core(other));
  }
  static sim_time at_distance(const line_times& t, unsigned distance) {
    if (distance <= 1) return t.cluster;
    return distance == 2 ? t.node : t.hops[std::min<std::size_t>(distance - 3, t.hops.size() - 1)];
  }
};

}  // namespace tutti::sim
