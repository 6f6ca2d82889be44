// SPDX-License-Identifier: Apache-2.0
// Measures in cycles of 8 ns (125 MHz) what a node adds to a packet, alone and under load, and how
// the time of a barrier grows with the number of nodes.

#include <algorithm>

#include "hardware/innetwork/sim/network.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;
using ull = unsigned long long;

constexpr key inner{77, type_tree, 1};
const std::vector<table_row> inner_rows = {{host_bit | arrive_bit(0), arrive_bit(2)},
                                           {release_bit(2), host_bit | release_bit(0)}};

frame packet(unsigned message, unsigned episode, unsigned role) {
  barrier_packet p;
  p.source_port = 40'000;
  p.message = message;
  p.episode = episode;
  p.communicator = inner.communicator;
  p.topology = inner.topology;
  p.role = role;
  return build(p);
}

struct sample {
  std::vector<std::uint64_t> values;
  void add(std::uint64_t v) { values.push_back(v); }
  std::uint64_t at(double share) {
    std::sort(values.begin(), values.end());
    return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
  }
};

// Measures an inner node of a tree: from first beat in to first beat out, for the arrival and the
// release, beside other traffic that uses `load` percent of the data path.
std::string node_latency(const arguments& with, unsigned load, std::size_t bytes, unsigned take) {
  node n(with, with.seed);
  n.speed.take = take;
  if (!n.configure(0, inner, inner_rows)) return "a table is refused";
  std::mt19937_64 random(with.seed);
  std::uint64_t entered = 0, queued = 0, seen = 0, credit = 0;
  sample engine, whole, forwarded;
  std::deque<std::uint64_t> others[queues];
  n.on_entry = [&](unsigned q, std::uint64_t queued_at, std::uint64_t at) {
    if (q == 0 || q == 1 || q == 4) {
      entered = at;
      queued = queued_at;
    } else {
      others[q].push_back(at);
    }
  };
  std::string wrong;
  n.on_departure = [&](departure d) {
    if (d.origin != 1) {
      forwarded.add(d.first - others[d.origin].front());
      others[d.origin].pop_front();
      return;
    }
    ++seen;
    // The first packet of a stage.
    if (d.to == 1u << 4 || d.to == 1u) {
      engine.add(d.first - entered);
      whole.add(d.first - queued);
    }
  };
  const frame other(bytes, 0x5a);
  const auto cycle = [&] {
    credit += load;
    if (const std::uint64_t beats = (bytes + 7) / 8; load != 0 && credit >= 100 * beats) {
      credit -= 100 * beats;
      n.enqueue(std::array{2u, 3u, 5u, 6u, 7u}[random() % 5], other);
    }
    n.cycle();
  };
  const auto until = [&](std::uint64_t count) {
    for (unsigned c = 0; c < 20'000 && seen < count; ++c) cycle();
    return seen >= count;
  };
  const auto pause = [&] {
    for (std::uint64_t c = 20 + random() % 400; c > 0; --c) cycle();
  };
  std::uint64_t expected = 0;
  const unsigned episodes = static_cast<unsigned>(std::max<std::uint64_t>(20, with.cycles / 500));
  for (unsigned e = 0; e < episodes; ++e) {
    n.enqueue(0, packet(message_arrive, e, 2));
    pause();
    n.enqueue(1, packet(message_start, e, 1));
    if (!until(expected += 1)) return "no arrival comes out";
    pause();
    n.enqueue(4, packet(message_release, e, 0));
    if (!until(expected += 2)) return "no release comes out";
    pause();
  }
  std::printf(
      "{\"measure\": \"p\", \"load_percent\": %u, \"other_bytes\": %zu, \"way_out_percent\": %u, "
      "\"engine_min\": %llu, "
      "\"engine_median\": %llu, \"engine_p99\": %llu, \"engine_max\": %llu, "
      "\"with_input_queue_median\": %llu, "
      "\"with_input_queue_max\": %llu, \"forwarded_min\": %llu}\n",
      load, bytes, take * 100 / 16, ull{engine.at(0)}, ull{engine.at(0.5)}, ull{engine.at(0.99)},
      ull{engine.at(1)}, ull{whole.at(0.5)}, ull{whole.at(1)},
      forwarded.values.empty() ? 0 : ull{forwarded.at(0)});
  return {};
}

network_plan plan_of(unsigned type, rank_t n, bool gigabit) {
  network_plan plan;
  plan.nodes = n;
  plan.latency = 1;
  plan.gigabit = gigabit;
  std::vector<rank_t> all(n);
  for (rank_t r = 0; r < n; ++r) all[r] = r;
  plan.communicators.push_back({17, make_topology(type, n), all});
  return plan;
}

struct passage_time {
  std::uint64_t late_worst = 0, late_best = ~std::uint64_t{0}, own_worst = 0, together = 0;
};

std::string barrier_time(const arguments& with, unsigned type, rank_t n, bool gigabit,
                         passage_time& t) {
  // If late is n, no rank is late.
  for (rank_t late = 0; late <= n; ++late) {
    network_plan plan = plan_of(type, n, gigabit);
    plan.think = [late](rank_t r, std::uint64_t) -> std::uint64_t { return r == late ? 5'000 : 0; };
    network net(with, plan);
    if (!net.run(1, 20'000)) return "stuck: " + net.check(1);
    if (std::string w = net.check(1); !w.empty()) return w;
    std::uint64_t arrival = 0, departure = 0, own = 0;
    for (const test::passage& p : net.passages(0)) {
      arrival = std::max(arrival, p.arrive);
      departure = std::max(departure, p.leave);
      if (p.participant == late) own = p.leave - p.arrive;
    }
    if (late == n) {
      t.together = departure - arrival;
    } else {
      t.late_worst = std::max(t.late_worst, departure - arrival);
      t.own_worst = std::max(t.own_worst, own);
      t.late_best = std::min(t.late_best, departure - arrival);
    }
  }
  return {};
}

// The measurement of Arap et al.: two nodes in a ring. At the second node it takes the time from
// its host's call to the release, both when they enter the engine, from the stamps that the release
// for the host carries. Half of it is p.
std::string as_in_the_paper(const arguments& with, bool gigabit) {
  network_plan plan = plan_of(type_ring, 2, gigabit);
  plan.think = [](rank_t r, std::uint64_t) -> std::uint64_t { return r == 1 ? 5'000 : 0; };
  network net(with, plan);
  if (!net.run(1, 20'000)) return "stuck";
  // The release carries the stamps of both packets.
  const stamps s = net.last_stamps(0, 1);
  std::printf(
      "{\"measure\": \"as_in_the_paper\", \"gigabit\": %s, \"round_trip\": %llu, \"p_cycles\": "
      "%.1f, \"p_us\": %.3f}\n",
      gigabit ? "true" : "false", ull{s.came - s.called},
      static_cast<double>(s.came - s.called) / 2,
      static_cast<double>(s.came - s.called) / 2 * 0.008);
  return {};
}

std::string run(const arguments& with) {
  for (const auto [load, bytes, take] : {std::tuple{0u, 64u, 16u},
                                         {50u, 64u, 16u},
                                         {90u, 64u, 16u},
                                         {50u, 1514u, 16u},
                                         {90u, 1514u, 16u},
                                         {60u, 64u, 12u},
                                         {60u, 1514u, 12u}})
    if (std::string w = node_latency(with, load, bytes, take); !w.empty()) return w;
  for (const bool gigabit : {false, true}) {
    if (std::string w = as_in_the_paper(with, gigabit); !w.empty()) return w;
    for (unsigned type = type_ring; type <= type_butterfly; ++type)
      for (rank_t n = 2; n <= 8; ++n) {
        if (type == type_star && n - 1 > PORTS) continue;
        passage_time t;
        if (std::string w = barrier_time(with, type, n, gigabit, t); !w.empty()) return w;
        std::printf(
            "{\"measure\": \"barrier\", \"gigabit\": %s, \"topology\": \"%s\", \"nodes\": %u, "
            "\"late_best\": %llu, "
            "\"late_worst\": %llu, \"late_own_worst\": %llu, \"together\": %llu}\n",
            gigabit ? "true" : "false", make_topology(type, n).name.c_str(), n, ull{t.late_best},
            ull{t.late_worst}, ull{t.own_worst}, ull{t.together});
      }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
