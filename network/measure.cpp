// SPDX-License-Identifier: Apache-2.0
#include "network/measure.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "network/udp.hpp"

namespace tutti::network {
namespace {

// Not the port of the kernel's packets: the programs let it pass.
constexpr std::uint16_t udp_port = TUTTI_NET_UDP_PORT + 1;

struct shared_state {
  std::atomic<unsigned> ready;
  char path[160];
};
struct rank_result {
  std::atomic<std::uint32_t> published;
  std::uint64_t repeats, blocked;
  std::array<std::uint64_t, TUTTI_NET_COUNTERS> counters;
};

std::unique_ptr<endpoint> make_endpoint(const testbed& bed, const measure_options& o, rank_t r) {
  if (!o.udp) return std::make_unique<xdp_endpoint>("eth0", bed.options(o.topology, r));
  udp_options u;
  u.topology = o.topology;
  u.rank = r;
  for (const tutti_net_place& p : bed.options(o.topology, r).places) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = p.ip;
    a.sin_port = htons(udp_port);
    u.addresses.push_back(a);
  }
  u.cable = o.cable;
  u.cable.seed += r;
  return std::make_unique<udp_endpoint>(u);
}

std::uint32_t since(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::uint32_t>(to > from ? to - from : 0);
}

}  // namespace

samples summary(std::vector<std::uint32_t> times) {
  samples s;
  s.count = times.size();
  if (times.empty()) return s;
  std::ranges::sort(times);
  s.least = times.front();
  s.median = std::midpoint<double>(times[(times.size() - 1) / 2], times[times.size() / 2]);
  s.p99 = times[times.size() * 99 / 100];
  s.mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  return s;
}

measurement measure(testbed& bed, const measure_options& o) {
  const rank_t n = bed.nodes();
  const std::uint32_t calls = o.calls, lasts = std::min<std::uint32_t>(o.calls, 200);
  constexpr std::uint32_t warm_up = 20;
  const shared_array<shared_state> state(1);
  const shared_array<rank_result> results(n);
  const shared_array<std::uint32_t> call(std::size_t{n} * calls), offloaded(std::size_t{n} * calls),
      last_in(lasts);
  const bool in_switch = o.topology == TUTTI_NET_SWITCH && !o.udp;
  if (in_switch) bed.start_in_switch(bed.options(o.topology, 0));
  if (!o.udp) bed.inject_faults(o.cable);
  const auto body = [&](rank_t r) {
    const auto e = make_endpoint(bed, o, r);
    std::uint32_t episode = 0;
    const auto barrier = [&] {
      // release: publishes the number of the episode, so that the check reads no older one.
      results[r].published.store(++episode, std::memory_order_release);
      e->barrier(clock::now() + o.at_most);
      for (rank_t other = 0; o.check && other < n; ++other)
        // acquire: pairs with the release above.
        if (results[other].published.load(std::memory_order_acquire) < episode)
          throw std::runtime_error("released before rank " + std::to_string(other) + " had called");
    };
    // relaxed: a count; nothing is published by it.
    state[0].ready.fetch_add(1, std::memory_order_relaxed);
    while (state[0].ready.load(std::memory_order_relaxed) < n)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (std::uint32_t i = 0; i < warm_up; ++i) barrier();
    for (std::uint32_t i = 0; i < calls; ++i) {
      const auto begin = clock::now();
      barrier();
      const auto took = clock::now() - begin;
      call[std::size_t{r} * calls + i] = static_cast<std::uint32_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
      const stamps s = e->last_stamps();
      offloaded[std::size_t{r} * calls + i] = since(s.called, s.released);
    }
    for (std::uint32_t i = 0; i < lasts; ++i) {
      // The others are in the barrier when the last rank calls.
      if (r + 1 == n) std::this_thread::sleep_for(std::chrono::microseconds(400));
      barrier();
      const stamps s = e->last_stamps();
      if (r + 1 == n) last_in[i] = since(s.called, s.released);
    }
    results[r].repeats = e->repeats();
    if (const auto* x = dynamic_cast<xdp_endpoint*>(e.get())) {
      results[r].counters = x->counters();
      results[r].blocked = x->blocked();
      if (r == 0) std::snprintf(state[0].path, sizeof state[0].path, "%s", x->path().c_str());
    }
    // Others may still ask for a message that was lost.
    if (o.cable.any()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  };
  const std::string error = bed.run(body, o.at_most + std::chrono::seconds(5));
  if (in_switch) bed.stop_in_switch(0);
  if (!error.empty()) throw std::runtime_error(error);
  measurement m;
  std::vector<std::uint32_t> calls_of_all(&call[0], &call[0] + call.size()), after, last;
  for (rank_t r = 0; r < n; ++r) {
    m.repeats += results[r].repeats;
    m.blocked += results[r].blocked;
    for (std::size_t c = 0; c < m.counters.size(); ++c) m.counters[c] += results[r].counters[c];
    if (o.topology == TUTTI_NET_TREE && n > 1 && make_table(TUTTI_NET_TREE, n, r).role != 2)
      continue;
    for (std::uint32_t i = 0; i < calls; ++i)
      after.push_back(offloaded[std::size_t{r} * calls + i]);
  }
  last.assign(&last_in[0], &last_in[0] + last_in.size());
  m.call = summary(std::move(calls_of_all));
  m.offloaded = summary(std::move(after));
  m.last_in = summary(std::move(last));
  m.path = o.udp ? "the user-space reference over UDP" : state[0].path;
  return m;
}

}  // namespace tutti::network
