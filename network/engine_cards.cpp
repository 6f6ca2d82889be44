// SPDX-License-Identifier: Apache-2.0
#include "network/engine_cards.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "cli/end_with_parent.hpp"
#include "network/engine_card.hpp"

namespace tutti::network {
namespace {

struct cable_end {
  unsigned port = 0;
  rank_t to = 0;
  unsigned there = 0;
};

// The cables of each rank. In a ring port 0 leads to the successor.
std::vector<std::vector<cable_end>> cables_of(unsigned topology, rank_t n) {
  std::vector<std::vector<cable_end>> all(n);
  for (rank_t r = 0; r < n; ++r) {
    if (topology == TUTTI_NET_RING) {
      if (n > 1) all[r] = {{0, (r + 1) % n, 1}, {1, (r + n - 1) % n, 0}};
      continue;
    }
    const tutti_net_table t = make_table(topology, n, r);
    for (unsigned slot = 1; slot < t.outs; ++slot) {
      const rank_t other = t.out[slot].rank;
      if (other < r) continue;
      const auto here = static_cast<unsigned>(all[r].size()),
                 there = static_cast<unsigned>(all[other].size());
      all[r].push_back({here, other, there});
      all[other].push_back({there, r, here});
    }
  }
  for (const auto& cables : all)
    if (cables.size() > card::ports)
      throw std::invalid_argument("a card has " + std::to_string(card::ports) +
                                  " ports, and this " + std::string(topology_names[topology]) +
                                  " needs " + std::to_string(cables.size()));
  return all;
}

std::string address_of(rank_t rank) { return "10.78.0." + std::to_string(rank + 1); }
std::string port_device(unsigned port) { return "c" + std::to_string(port); }

}  // namespace

engine_cards::engine_cards(testbed& bed, unsigned topology, const std::string& program) {
  if (topology < TUTTI_NET_RING || topology > TUTTI_NET_BUTTERFLY)
    throw std::invalid_argument("engines have the topologies ring, tree, star and butterfly");
  const auto cables = cables_of(topology, bed.nodes());
  // Each cable is made at its lower port's end, or at the lower rank's.
  for (rank_t r = 0; r < bed.nodes(); ++r)
    for (const cable_end& c : cables[r])
      if (topology == TUTTI_NET_RING ? c.port == 0 : c.to > r)
        bed.join(r, port_device(c.port), c.to, port_device(c.there));
  const pid_t parent = ::getpid();
  for (rank_t r = 0; r < bed.nodes(); ++r) {
    std::vector<std::string> words{program,       "--device",  "tap0",       "--address",
                                   address_of(r), "--towards", "10.78.0.254"};
    for (const cable_end& c : cables[r]) {
      words.push_back("--cable");
      words.push_back(std::to_string(c.port) + "," + port_device(c.port) + "," + address_of(c.to) +
                      "," + std::to_string(c.there));
    }
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("no process for a card");
    if (child == 0) {
      cli::end_with_parent(parent);
      bed.enter_host(r);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    processes_.push_back(child);
  }
  const auto wait_for_cards = [](rank_t) {
    const auto end = clock::now() + std::chrono::seconds(10);
    for (;;) {
      try {
        const engine_card answers("tap0");
        return;
      } catch (const card_error&) {
        if (clock::now() >= end) throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  if (const std::string error = bed.run(wait_for_cards, std::chrono::seconds(15)); !error.empty())
    throw std::runtime_error("a card does not start: " + error);
}

engine_cards::~engine_cards() {
  for (const pid_t each : processes_) ::kill(each, SIGKILL);
  for (const pid_t each : processes_) ::waitpid(each, nullptr, 0);
}

void engine_cards::signal(rank_t rank, int number) const { ::kill(processes_[rank], number); }

}  // namespace tutti::network
