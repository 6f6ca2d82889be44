// SPDX-License-Identifier: Apache-2.0
// One rank of a communicator whose barriers, reductions and broadcasts run in the network. The
// subclasses differ in where the node is: in the kernel's packet path (xdp_endpoint.hpp) or in the
// process itself (udp.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "network/tables.hpp"
#include "tutti/platform/interface_base.hpp"

namespace tutti::network {

using clock = std::chrono::steady_clock;
using time_limit = std::optional<clock::time_point>;

// The ranks that did not arrive before the deadline, as far as the nodes answer.
struct absence {
  // Their nodes answer, but their hosts have not called in this episode.
  std::vector<rank_t> late;
  // Their nodes do not answer.
  std::vector<rank_t> silent;
  // Some ranks' calls have another operation or number of values than others', as far as the nodes
  // know.
  bool call_differently = false;
  // The nodes cannot be asked, so nobody is named.
  bool are_unknown = false;

  std::string text() const;
};

class deadline_error : public std::runtime_error {
 public:
  explicit deadline_error(absence who)
      : std::runtime_error("the deadline is over: " + who.text()), who_(std::move(who)) {}
  const absence& who() const noexcept { return who_; }

 private:
  absence who_;
};

// How a host waits, and for how long it waits before it takes a message for lost.
struct waiting {
  // How long a host looks at the completion word before it blocks, of its own processor time: about
  // as long as a wake-up takes where it shares its CPU, longer on a CPU of its own. Then it yields
  // meanwhile: if a process comes that is waited for, it gets the CPU.
  std::chrono::nanoseconds looking{50'000}, looking_alone{2'000'000};
  // A call is repeated after this, or up to half as long again, by chance: all hosts have called at
  // about the same time, and a host's next one may be late by the same time in each episode.
  std::chrono::microseconds first_repeat{1000};
  // The interval doubles up to this.
  std::chrono::microseconds longest_repeat{32000};
  // How long nodes may take, after a deadline, to report how far they are.
  std::chrono::milliseconds inquiry{20};
  // Called once a millisecond while the host waits, if there is a function: for a program that has
  // other work to move on.
  std::function<void()> meanwhile;
};

struct stamps {
  // When the node took the call, and when it released the host; its own clock, in ns.
  std::uint64_t called = 0, released = 0;
  // When the last message came that the episode needed since the call, where the node tells: both
  // then stand for the same place in the node, which is how Arap et al. measure p (figure 7).
  std::uint64_t came = 0;
};

// A rank of a communicator.
struct membership {
  unsigned topology = TUTTI_NET_STAR;
  std::uint16_t communicator = 0;
  std::uint32_t incarnation = 1;
  rank_t rank = 0;
  tutti_net_key key{0, 0};
};

class endpoint : public interface_base {
 public:
  rank_t rank() const noexcept { return table_.rank; }
  rank_t size() const noexcept { return table_.size; }
  std::uint32_t episode() const noexcept { return episode_; }
  const tutti_net_table& table() const noexcept { return table_; }
  std::uint64_t repeats() const noexcept { return repeats_; }

  // Returns when all ranks have called. After the limit it throws deadline_error; the endpoint then
  // still waits for this episode, which a further call of the same kind continues.
  void barrier(time_limit limit = {});
  // Combines up to 32 values of every rank, in the packets. Throws std::invalid_argument for sums
  // and xor by dissemination unless the number of ranks is a power of two.
  void allreduce(unsigned operation, std::span<std::uint64_t> values, time_limit limit = {});
  // Gives all ranks the root's values, of which there are up to 32.
  void broadcast(rank_t root, std::span<std::uint64_t> values, time_limit limit = {});
  // Sums doubles in the order of ranks, so that every rank gets the same bits whatever the
  // topology: the packets carry every rank's values, and the host adds. ranks * values is at most
  // 32.
  void sum_in_rank_order(std::span<double> values, time_limit limit = {});

  // The last episode's.
  virtual stamps last_stamps() const { return {}; }
  waiting how;

 protected:
  explicit endpoint(const tutti_net_table& t) : table_(t), chance_(1 + t.rank) {}

  // Hands a call to the node: a message of kind START.
  virtual void call(const tutti_net_message& m, const std::uint64_t* values) = 0;
  // The call has been repeated so often without an end: the node itself may have begun again and
  // know nothing of the communicator.
  virtual void is_repeated(std::uint32_t times) { (void)times; }
  // Returns true once the node has ended the episode; waits at most until then.
  virtual bool wait(std::uint32_t episode, clock::time_point until) = 0;
  // The values that the episode ended with.
  virtual void result(std::uint32_t episode, std::span<std::uint64_t> values) = 0;
  // How many messages have come here that did not agree on what is called.
  virtual std::uint64_t disagreements() { return 0; }
  // Asks all nodes how far they are, and returns what has come until then: the rank's episode and
  // whether and how its host has called, or nothing. Returns no entries if nodes cannot be asked.
  struct progress {
    std::uint32_t episode = 0;
    bool called = false;
    // The call does not agree with what others have called.
    bool differs = false;
  };
  virtual std::vector<std::optional<progress>> inquire(clock::time_point until) = 0;

  tutti_net_table table_;

 private:
  bool wait_with_work(clock::time_point until);
  std::chrono::nanoseconds longer_by_chance(std::chrono::nanoseconds interval);
  void episode_with(unsigned operation, std::span<std::uint64_t> values, time_limit limit);

  std::uint32_t episode_ = 0;
  std::uint64_t repeats_ = 0;
  // The disagreements when the episode began.
  std::uint64_t disagreed_before_ = 0;
  std::minstd_rand chance_;
};

}  // namespace tutti::network
