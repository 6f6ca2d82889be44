// SPDX-License-Identifier: Apache-2.0
// tutti's endpoints, with each detector.
#include <fmt/format.h>

#include <cstring>

#include "bench/trials/traffic.hpp"
#include "bench/trials/trial.hpp"
#include "tutti/comm/communicator.hpp"

namespace tutti::bench {
namespace {

std::shared_ptr<communicator> make(rank_t threads, const std::string& detector) {
  communicator_options options;
  if (detector != "default") options.detector = detector;
  return std::make_shared<communicator>(threads, options);
}

template <class Take>
void finish(endpoint& me, Take take) {
  while (me.idle(true) == idle_result::message)
    while (me.can_recv()) {
      const received message = me.recv();
      take(message);
      me.release(message);
    }
}

// A trial in which each participant calls body(endpoint, rank, count).
template <class Body>
trial with_endpoints(const std::string& metric, const std::string& pattern, rank_t n,
                     const std::string& detector, Body body) {
  return {
      metric,
      "tutti",
      detector,
      pattern,
      n,
      [body, comm = make(n, detector)](team& threads, const placement& where, std::uint64_t count) {
        return time_team(threads, where, [&](rank_t rank) { body((*comm)[rank], rank, count); });
      }};
}

trial empty_episode(rank_t n, const std::string& detector) {
  return with_endpoints("idle", "empty_episode", n, detector,
                        [](endpoint& me, rank_t, std::uint64_t count) {
                          for (std::uint64_t i = 0; i < count; ++i)
                            finish(me, [](const received&) {});
                        });
}

trial message_each(rank_t n, const std::string& detector) {
  return with_endpoints("idle", "message_each", n, detector,
                        [n](endpoint& me, rank_t rank, std::uint64_t count) {
                          for (std::uint64_t i = 0; i < count; ++i) {
                            me.send((rank + 1) % n, i);
                            finish(me, [](const received&) {});
                          }
                        });
}

trial hop(rank_t n, const std::string& detector) {
  return with_endpoints("hop", "hop", n, detector,
                        [n](endpoint& me, rank_t rank, std::uint64_t count) {
                          const rank_t next = (rank + 1) % n;
                          if (rank == 0) me.send(next, std::uint64_t{1});
                          finish(me, [&](const received& m) {
                            const auto hops = m.as<std::uint64_t>();
                            if (hops < count) me.send(next, hops + 1);
                          });
                        });
}

struct port {
  endpoint& me;
  template <std::size_t Bytes>
  bool try_send(rank_t to, const payload<Bytes>& message) {
    if (!me.can_send(to)) return false;
    me.send(to, message);
    return true;
  }
  void drain(std::uint64_t& sum) {
    while (me.can_recv()) {
      const received message = me.recv();
      // Messages of all sizes begin with the value that is summed.
      std::uint64_t first = 0;
      std::memcpy(&first, message.data, sizeof first);
      sum += first;
      me.release(message);
    }
  }
  void end(std::uint64_t& sum) {
    while (me.idle(true) == idle_result::message) drain(sum);
  }
};

template <std::size_t Bytes>
trial traffic(rank_t n, const std::string& detector, bool with_self) {
  const std::string metric = fmt::format("{}_{}_bytes", with_self ? "random" : "others", Bytes);
  return {"message",
          "tutti",
          detector,
          metric,
          n,
          [n, with_self, comm = make(n, detector)](team& threads, const placement& where,
                                                   std::uint64_t count) {
            std::vector<std::uint64_t> sent(n), taken(n);
            const double ns = time_team(threads, where, [&](rank_t rank) {
              port mine{(*comm)[rank]};
              run_traffic<Bytes>(mine, rank, n, with_self, count / n + 1, sent[rank], taken[rank]);
            });
            check_sums(sent.data(), taken.data(), n);
            return ns;
          }};
}

}  // namespace

std::vector<trial> idle_trials(rank_t n, const std::vector<std::string>& detectors) {
  std::vector<trial> all;
  for (const auto& detector : detectors) {
    all.push_back(empty_episode(n, detector));
    all.push_back(message_each(n, detector));
    all.push_back(hop(n, detector));
  }
  return all;
}

std::vector<trial> message_trials(rank_t n, const std::vector<std::string>& detectors) {
  std::vector<trial> all;
  for (const auto& detector : detectors) {
    all.push_back(traffic<8>(n, detector, true));
    all.push_back(traffic<8>(n, detector, false));
    all.push_back(traffic<16>(n, detector, false));
    all.push_back(traffic<64>(n, detector, false));
  }
  return all;
}

}  // namespace tutti::bench
