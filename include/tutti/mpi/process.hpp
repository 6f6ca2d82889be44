// SPDX-License-Identifier: Apache-2.0
// One process of a communicator: the state that its participants share. It sends and receives
// packets without ever blocking. It runs the termination-detection machine, in which a process
// counts as one participant (Naylor et al. 2020, section III-B: several threads below one
// detector): the process is passive when all its participants are in idle().
//
// Any participant that has nothing else to do makes progress: in idle(), in a can_recv() that finds
// nothing, and in a can_send() without room.
// Memory ordering: participants write the shared state in turns (turn.hpp), except inboxes and
// credits.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/mpi/calls.hpp"
#include "tutti/mpi/inbox.hpp"
#include "tutti/mpi/options.hpp"
#include "tutti/mpi/packet.hpp"
#include "tutti/mpi/turn.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/termination/protocol/interface.hpp"
#include "tutti/termination/protocol/machine.hpp"

namespace tutti::mpi {

// Knows which processes of this node are still alive (src/mpi/).
class neighbours;

// How the participants of a group are distributed over processes.
struct layout {
  // By participant.
  std::vector<std::uint32_t> process_of;
  // By participant: its index in its process.
  std::vector<std::uint32_t> thread_of;
  // By process, in the order of its threads.
  std::vector<std::vector<rank_t>> participants;
};

class process {
 public:
  // Collective over the communicator. `where.participants[i]` are the participants of the
  // communicator's rank i.
  process(const calls& mpi, handle communicator, const options& chosen, layout where);
  // Also collective; waits until the other processes call it. Returns false if one of them is found
  // dead.
  bool leave() noexcept;
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  rank_t participants() const noexcept { return static_cast<rank_t>(where_.process_of.size()); }
  std::uint32_t threads() const noexcept { return threads_; }
  std::uint32_t processes() const noexcept {
    return static_cast<std::uint32_t>(where_.participants.size());
  }
  std::uint32_t index() const noexcept { return index_; }
  handle comm() const noexcept { return comm_; }
  const layout& where() const noexcept { return where_; }
  std::size_t packet_bytes() const noexcept { return packet_bytes_; }
  bool time_idle() const noexcept { return time_idle_; }
  tutti::patience patience() const noexcept { return patience_; }
  // Whether this node has more participants than cores.
  bool is_crowded() const noexcept { return is_crowded_; }
  // The processes of each node of this machine, ascending: one node, unless
  // options::processes_per_node says otherwise.
  const std::vector<std::vector<std::uint32_t>>& nodes() const noexcept { return nodes_; }
  // The index of this node among them, and its processes, this one included.
  std::size_t node() const noexcept { return node_; }
  const std::vector<std::uint32_t>& processes_here() const noexcept { return nodes_[node_]; }
  bool is_one_node() const noexcept { return processes_here().size() == processes(); }
  // Another process of this node that has ended without leaving, if there is one. Costs one system
  // call per process.
  std::optional<std::uint32_t> dead_neighbour() const;
  std::string name_of(std::uint32_t other) const;
  // Whether the participant, or its process, has left the communicator, as far as the news have
  // arrived.
  bool has_left(rank_t participant) {
    const std::lock_guard mine(turn_);
    return has_left_[where_.process_of[participant]] != 0 || has_departed_[participant] != 0;
  }

  // --- packets of messages -----------------------------------------------------------------------
  // A packet that nothing uses. The process still owns it, wherever it goes.
  packet* take();
  // Sends the packet, or delivers it to a thread of this process.
  void hand_over(packet* p, std::uint32_t to);
  // Call this when all messages of the packet are released.
  void emptied(packet* p);
  bool releases_need_update() const noexcept { return threads_ > 1; }
  // The packets that a thread may still send to a process.
  std::atomic<std::uint32_t>& credits(std::uint32_t thread, std::uint32_t to) noexcept {
    return credits_.begin()[std::size_t{thread} * processes() + to];
  }
  inbox& inbox_of(std::uint32_t thread) noexcept { return *inboxes_[thread]; }

  // Handles what MPI and the detector have for this process, unless another thread of the process
  // is doing so. Throws std::runtime_error if MPI reports an error or another process has died.
  void progress();

  // --- idle --------------------------------------------------------------------------------------
  // The number of episodes that are over. Each participant has left as many idle() calls with a
  // release, or is about to.
  std::uint64_t episode() const noexcept {
    // acquire: pairs with the release in finish(), so that the outcome is seen.
    return episode_.load(acquire);
  }
  const protocol::outcome& last_outcome() const noexcept { return outcome_; }
  // Whether a participant that is in `episode` may send. It may not if its deadline passed while a
  // report was under way: not until the report is answered and, if the answer is the release, not
  // until the participant's next idle() has returned that release.
  bool may_send(std::uint64_t episode) const noexcept {
    // relaxed: it is closed only while all participants of this process are in idle(), which each
    // leaves in a turn or by a look at episode(), and it is never opened again for an episode that
    // a report may still end.
    return sends_in_.load(relaxed) == episode;
  }
  void enter(std::uint32_t thread, std::uint64_t episode, const protocol::counts& totals,
             const protocol::contribution& given);
  // Leaves the idle state because a message has come or the deadline has passed. Returns false if
  // the episode is over instead.
  bool withdraw(std::uint32_t thread, std::uint64_t episode, bool is_late);
  // A message has come to a participant whose sends had to wait after a deadline. The message
  // refutes the report anyway.
  void woken_by_message();
  // Records how many messages a participant holds, for those that ask who is missing.
  void note_held(std::uint32_t thread, std::uint64_t held) noexcept {
    // relaxed: a number for a report.
    held_[thread].value.store(held, relaxed);
  }
  // Asks all participants that are missing, because the deadline of that thread has passed; waits
  // only briefly for the answers.
  std::vector<absentee> missing(std::uint32_t thread);
  // Tells all processes that this participant will not come to idle() again.
  void depart(std::uint32_t thread);

 private:
  struct member_state {
    bool is_idle = false;
    bool is_late = false;
    protocol::counts totals;
    protocol::contribution given;
  };

  void check(int error, const char* what, std::uint32_t other) const;
  void introduce(const options& chosen);
  void post(std::size_t slot);
  bool receive_one();
  void handle_packet(packet* p, const arrival& from);
  void deliver(packet* p);
  void send(packet* p, std::uint32_t to);
  void retire_sends();
  void poll();
  void pay_credits(std::uint32_t to, std::size_t at_least);
  void grant(const credit_grant* grants, std::size_t count, std::uint32_t from);
  packet* unused();
  void put_back(packet* p) noexcept;
  template <class Item>
  void send_items(packet_kind kind, const Item* items, std::size_t count, std::uint32_t to);
  void look_for_the_dead();
  void look_for_those_who_left();
  [[noreturn]] void fail(const std::string& what);
  participant_status status_of(std::uint32_t thread) const;
  void tell_status(packet_kind kind, std::uint32_t to);
  void take_question(std::uint32_t from, const participant_status* status);
  void take_answer(std::uint32_t from, const participant_status* status);
  void take_departure(std::uint32_t from, std::uint64_t episode, const participant_status* status);
  void say_goodbye();

  void become_passive();
  void allow_sends() noexcept;
  void note(const protocol::outcome& came);
  void end_episode();
  void settle();
  void take_values(const packet_header& header, const protocol::value_t* values);
  void take_result(const protocol::value_t& value);
  void run_controls();

  const calls& mpi_;
  handle comm_;
  layout where_;
  std::uint32_t index_ = 0;
  std::uint32_t threads_ = 1;
  std::size_t packet_bytes_;
  std::size_t packets_under_way_;
  bool time_idle_;
  tutti::patience patience_;
  bool is_crowded_ = false;
  std::vector<std::vector<std::uint32_t>> nodes_;
  std::size_t node_ = 0;
  turn turn_;

  // All packets that were made: those that are free, are being filled, are with MPI, or wait in an
  // inbox whose participant may never read them.
  std::vector<packet::owner> packets_;
  packet* free_ = nullptr;
  // Posted receives, in the order in which MPI fills them.
  std::vector<packet*> posted_;
  std::size_t next_posted_ = 0;
  std::deque<packet*> sends_;
  // Packets emptied here, by the participant that sent them.
  std::vector<std::uint32_t> owed_;
  // The same by process.
  std::vector<std::uint32_t> owed_to_;
  std::vector<std::unique_ptr<inbox>> inboxes_;
  array<std::atomic<std::uint32_t>> credits_;
  array<padded<std::atomic<std::uint64_t>>> held_;

  std::optional<protocol::machine> machine_;
  // Control messages to be sent.
  std::deque<std::pair<std::uint32_t, protocol::control>> controls_;
  std::vector<member_state> members_;
  std::uint32_t idle_members_ = 0;
  bool is_passive_ = false;
  protocol::outcome outcome_;
  // Values of idle() where processes are not whole subtrees of schedule::fold (values.cpp).
  const bool folds_by_process_;
  // The episode is over, but the combined value has not come.
  bool is_settling_ = false;
  // In process 0: by participant.
  std::vector<protocol::value_t> values_;
  std::size_t values_missing_ = 0;
  alignas(cache_line) std::atomic<std::uint64_t> episode_{0};
  static constexpr std::uint64_t no_episode = UINT64_MAX;
  // The episode in which participants may send.
  std::atomic<std::uint64_t> sends_in_{0};

  std::unique_ptr<neighbours> neighbours_;
  std::uint32_t polls_until_look_ = 0;
  std::uint64_t next_look_ns_ = 0;
  // If not empty, every further call throws it.
  std::string failure_;
  bool has_dead_ = false;
  // This process has said goodbye and sends nothing after it.
  bool is_leaving_ = false;
  bool is_gone_ = false;
  // By process.
  std::vector<std::uint8_t> has_left_;
  // By process: the episode that it had reached.
  std::vector<std::uint64_t> left_in_;
  // By participant.
  std::vector<std::uint8_t> has_departed_;
  // By participant: the episode that it had reached.
  std::vector<std::uint64_t> departed_in_;
  std::vector<participant_status> answers_;
  // By process.
  std::vector<std::uint8_t> has_answered_;
  // By process: when it asked who was missing.
  std::vector<std::uint64_t> asked_ns_;
};

}  // namespace tutti::mpi
