// SPDX-License-Identifier: Apache-2.0
#include "sim/structures.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hardware/driver/hbs_registers.hpp"
#include "sim/world.hpp"

namespace tutti::sim {

namespace hbs = hardware::hbs;
using hardware::model::hbs_inputs;
using hardware::model::hbs_outputs;

namespace {

world& here() noexcept { return *world::current(); }

}  // namespace

void refuse_more_threads(const machine& m, rank_t threads, const std::string& why) {
  if (threads > m.cpus())
    throw std::invalid_argument(why + ", and " + m.name + " has " + std::to_string(m.cpus()) +
                                ": not " + std::to_string(threads) + " threads");
}

structures::structures(const machine& m, rank_t threads, distances of)
    : machine_(m),
      of_(of),
      cycle_(std::max<sim_time>(1, picoseconds(1 / m.clock_ghz))),
      places_(threads),
      threads_(threads) {
  refuse_more_threads(m, threads, "a Hardware Barrier Structure has one bit for each CPU");
  const unsigned sockets = m.nodes / m.nodes_of_structure, local = m.cpus() / sockets;
  for (unsigned s = 0; s < sockets; ++s) sockets_.emplace_back(local, sockets - 1);
  std::vector<unsigned> members(sockets);
  for (rank_t rank = 0; rank < threads; ++rank) {
    const unsigned core = m.core_of_cpu(rank);
    place& p = places_[rank];
    p.socket = m.node_of_core(core) / m.nodes_of_structure;
    p.bit = members[p.socket]++;
    p.way = of == distances::described
                ? m.structure_access / 2
                : machine::at_distance(m.transfer, m.distance(core, first_core_of(p.socket))) / 2;
    sockets_[p.socket].ranks[p.bit] = rank;
  }
  // The kernel writes the participants of the barrier: local threads first, then peers.
  for (unsigned s = 0; s < sockets; ++s) {
    if (members[s] == 0) continue;
    const unsigned bits = local + sockets - 1, mask_words = (bits + 63) / 64;
    std::vector<std::uint64_t> mask(mask_words + 1);
    for (unsigned bit = 0; bit < members[s]; ++bit) mask[bit / 64] |= std::uint64_t{1} << bit % 64;
    for (unsigned other = 0; other < sockets; ++other)
      if (other != s && members[other] > 0) {
        const unsigned bit = local + (other < s ? other : other - 1);
        mask[bit / 64] |= std::uint64_t{1} << bit % 64;
      }
    for (unsigned w = 0; w < mask.size(); ++w) {
      hbs_inputs in;
      in.announced_barrier.resize(sockets);
      in.request = {true, true, hbs::cluster(0, w, mask_words + 1), mask[w]};
      sockets_[s].unit.step(in);
    }
  }
}

unsigned structures::first_core_of(unsigned number) const {
  return number * machine_.nodes_of_structure * machine_.cores_of_node();
}

// Where the description says how far structures are apart, they are all equally far.
sim_time structures::way_between(unsigned from, unsigned to) const {
  if (of_ == distances::described) return machine_.structure_link;
  const unsigned distance = machine_.distance(first_core_of(from), first_core_of(to));
  return machine::at_distance(machine_.transfer, distance) / 2;
}

void structures::arrive_and_wait(rank_t rank) {
  world& w = here();
  w.finish_stores();
  threads_[rank] = static_cast<std::uint32_t>(w.running());
  const place& p = places_[rank];
  w.call_at(w.now() + p.way, [this, &p] {
    sockets_[p.socket].arrived.push_back({true, true, hbs::trigger(0, p.bit), 0});
    need_clock(p.socket);
  });
  w.await_answer();
}

// A structure's clock stands still while it would do nothing.
void structures::need_clock(unsigned number) {
  if (sockets_[number].clock_is_due) return;
  sockets_[number].clock_is_due = true;
  here().call_at((here().now() / cycle_ + 1) * cycle_, [this, number] { edge(number); });
}

void structures::edge(unsigned number) {
  socket& s = sockets_[number];
  s.clock_is_due = false;
  hbs_inputs in;
  in.announced_barrier.resize(s.announced.size() + 1);
  for (unsigned k = 0; k < s.announced.size(); ++k)
    if (s.announced[k] > 0) in.announced |= 1u << k;
  if (!s.arrived.empty()) in.request = s.arrived.front();
  const hbs_outputs out = s.unit.step(in);
  world& w = here();
  if (in.request.valid && out.takes_request) s.arrived.pop_front();
  bool is_announced = false;
  for (unsigned k = 0; k < s.announced.size(); ++k) {
    if ((out.takes >> k & 1) != 0) --s.announced[k];
    is_announced = is_announced || s.announced[k] > 0;
    if ((out.announces >> k & 1) == 0) continue;
    const unsigned other = k < number ? k : k + 1,
                   as_seen_there = number < other ? number : number - 1;
    w.call_at(w.now() + way_between(number, other), [this, other, as_seen_there] {
      ++sockets_[other].announced[as_seen_there];
      need_clock(other);
    });
  }
  if (out.completes)
    for (unsigned bit = 0; bit < s.ranks.size(); ++bit)
      if (out.completed[bit])
        w.answer_at(w.now() + places_[s.ranks[bit]].way, threads_[s.ranks[bit]]);
  if (!s.arrived.empty() || is_announced || s.unit.is_busy()) need_clock(number);
}

}  // namespace tutti::sim
