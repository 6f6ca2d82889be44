// SPDX-License-Identifier: Apache-2.0
// How a process joins the others, and how it leaves them.
#include "tutti/mpi/process.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "src/mpi/introduction.hpp"
#include "src/mpi/neighbours.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::mpi {
namespace {

// The number of receives that wait for packets. A few suffice: credits, not receives, hold back
// senders to a slow process.
constexpr std::size_t receives = 16;

std::uint32_t rank_in(const calls& mpi, handle comm) {
  int rank = -1;
  if (mpi.rank(comm, &rank) != 0 || rank < 0)
    throw std::runtime_error("tutti: MPI_Comm_rank failed");
  return static_cast<std::uint32_t>(rank);
}

bool may_have_threads(const calls& mpi) {
  bool runs = false, serialized = false;
  return mpi.state(&runs, &serialized) != 0 || serialized;
}

// Whether the participants of each process are a whole subtree of schedule::fold's tournament over
// all participants, and the processes form the tournament over these subtrees. That is so if there
// are equal powers of two of them in the order of the ranks, or a single process.
bool are_subtrees(const layout& where) {
  const std::size_t each = where.participants[0].size();
  if (where.participants.size() == 1) return true;
  if (!std::has_single_bit(each)) return false;
  for (std::size_t p = 0; p < where.participants.size(); ++p) {
    if (where.participants[p].size() != each) return false;
    for (std::size_t thread = 0; thread < each; ++thread)
      if (where.participants[p][thread] != p * each + thread) return false;
  }
  return true;
}

}  // namespace

process::process(const calls& mpi, handle communicator, const options& chosen, layout where)
    : mpi_(mpi),
      where_(std::move(where)),
      index_(rank_in(mpi, communicator)),
      threads_(static_cast<std::uint32_t>(where_.participants[index_].size())),
      packet_bytes_(chosen.packet_bytes),
      packets_under_way_(chosen.packets_under_way),
      time_idle_(chosen.time_idle),
      patience_(chosen.patience),
      turn_(may_have_threads(mpi)),
      owed_(participants(), 0),
      owed_to_(processes(), 0),
      credits_(std::size_t{threads_} * processes()),
      held_(threads_),
      folds_by_process_(are_subtrees(where_)),
      values_(index_ == 0 && !folds_by_process_ ? participants() : 0),
      values_missing_(participants()),
      has_left_(processes(), 0),
      left_in_(processes(), 0),
      has_departed_(participants(), 0),
      departed_in_(participants(), 0),
      answers_(participants()),
      has_answered_(processes(), 0),
      asked_ns_(processes(), 0) {
  check(mpi_.duplicate(communicator, &comm_), "MPI_Comm_dup", index_);
  try {
    introduce(chosen);
  } catch (...) {
    mpi_.free_communicator(&comm_);
    throw;
  }
  machine_.emplace(chosen.detector, index_, processes());
  members_.resize(threads_);
  const std::size_t most = std::size_t{participants()} * packets_under_way_;
  for (std::uint32_t i = 0; i < threads_; ++i) inboxes_.push_back(std::make_unique<inbox>(most));
  // relaxed: no thread uses them yet.
  for (auto& credit : credits_)
    credit.store(static_cast<std::uint32_t>(packets_under_way_), relaxed);
  posted_.resize(receives);
  for (std::size_t slot = 0; slot < receives; ++slot) post(slot);
}

void process::introduce(const options& chosen) {
  const introduction mine = introduce_this_process(chosen, index_);
  std::vector<introduction> all(processes());
  check(mpi_.all_gather(&mine, sizeof mine, all.data(), comm_), "MPI_Allgather", index_);
  require_agreement(all);
  neighbours_ = std::make_unique<neighbours>();
  for (std::uint32_t i = 0; i < processes(); ++i) {
    if (all[i].machine != mine.machine) continue;
    if (nodes_.empty() || all[i].node != all[nodes_.back().front()].node) nodes_.emplace_back();
    nodes_.back().push_back(i);
    if (all[i].node != mine.node) continue;
    node_ = nodes_.size() - 1;
    if (i != index_) neighbours_->watch(i, all[i].pid);
  }
  is_crowded_ = mpi::is_crowded(all, where_, mine.machine);
}

bool process::leave() noexcept {
  if (is_gone_) return !has_dead_;
  is_gone_ = true;
  try {
    if (dead_neighbour()) has_dead_ = true;
    if (!has_dead_) say_goodbye();
    for (packet* p : posted_)
      if (p != nullptr) mpi_.cancel(&p->request);
  } catch (const std::exception&) {
    // Another process has died, so no goodbye can be exchanged.
    has_dead_ = true;
  }
  return !has_dead_;
}

process::~process() {
  if (leave()) mpi_.free_communicator(&comm_);
  // If a process is dead, MPI may still use packets.
  if (has_dead_)
    for (packet::owner& each : packets_) static_cast<void>(each.release());
}

// A goodbye is the last packet of its sender, and no process leaves before it has the goodbyes of
// all others. A packet that came later would be found by the next communicator, since MPI gives the
// context of a freed communicator to another one. The detector may still have something to send,
// such as the ring's rank 0 when the release comes back, but no episode can end without this
// process any more.
void process::say_goodbye() {
  run_controls();
  for (std::uint32_t other = 0; other < processes(); ++other)
    if (other != index_) send_items<std::byte>(packet_kind::goodbye, nullptr, 0, other);
  is_leaving_ = true;
  has_left_[index_] = 1;
  const auto all_have_left = [&] {
    return std::find(has_left_.begin(), has_left_.end(), 0) == has_left_.end();
  };
  while (!all_have_left() || !sends_.empty()) {
    poll();
    if (!all_have_left()) native::yield();
  }
}

void process::check(int error, const char* what, std::uint32_t other) const {
  if (error == 0) return;
  std::array<char, 256> words{};
  mpi_.text(error, words.data(), words.size());
  std::string sentence = std::string("tutti: ") + what;
  if (other != index_) sentence += " with process " + std::to_string(other);
  throw std::runtime_error(sentence + " failed: " + words.data());
}

void process::fail(const std::string& what) {
  if (failure_.empty()) failure_ = "tutti: " + what;
  throw std::runtime_error(failure_);
}

void process::look_for_the_dead() {
  constexpr std::uint64_t every_ns = 50'000'000;
  constexpr std::uint32_t polls = 512;
  if (polls_until_look_ > 0) {
    --polls_until_look_;
    return;
  }
  polls_until_look_ = polls;
  if (!failure_.empty() && !is_leaving_) throw std::runtime_error(failure_);
  const std::uint64_t now = platform::now_ns();
  if (now < next_look_ns_) return;
  next_look_ns_ = now + every_ns;
  look_for_those_who_left();
  if (!dead_neighbour()) return;
  // Its goodbye may be among the packets that have not been received yet.
  while (receive_one()) {
  }
  const auto dead = dead_neighbour();
  if (!dead) return;
  has_dead_ = true;
  // Names all dead processes: the one that died first may have caused the others to die.
  std::vector<bool> is_named(processes(), false);
  std::string all;
  while (const auto next = neighbours_->dead(
             [&](std::uint32_t other) { return has_left_[other] != 0 || is_named[other]; })) {
    is_named[*next] = true;
    all += (all.empty() ? "" : ", ") + name_of(*next) + ", pid " +
           std::to_string(neighbours_->pid_of(*next));
  }
  fail("has ended without leaving the communicator: " + all);
}

std::optional<std::uint32_t> process::dead_neighbour() const {
  return neighbours_->dead([&](std::uint32_t other) { return has_left_[other] != 0; });
}

// Fails if an idle() can never end because a process, or one of its participants, has left in the
// current episode. Those that left after the end of this episode have seen the release, and the
// release for this process is on its way.
void process::look_for_those_who_left() {
  if (idle_members_ == 0 || is_leaving_) return;
  // relaxed: written in turns only.
  const std::uint64_t now_in = episode_.load(relaxed);
  std::string gone;
  for (std::uint32_t other = 0; other < processes(); ++other)
    if (has_left_[other] && left_in_[other] <= now_in)
      gone += (gone.empty() ? "" : ", ") + name_of(other);
  for (rank_t rank = 0; rank < participants(); ++rank)
    if (has_departed_[rank] && departed_in_[rank] <= now_in && !has_left_[where_.process_of[rank]])
      gone += (gone.empty() ? "participant " : ", participant ") + std::to_string(rank) +
              " of process " + std::to_string(where_.process_of[rank]);
  if (!gone.empty()) fail("idle() cannot end: " + gone + " left the communicator");
}

std::string process::name_of(std::uint32_t other) const {
  std::string ranks;
  for (const rank_t rank : where_.participants[other])
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return "process " + std::to_string(other) + " (participant " + ranks + ")";
}

}  // namespace tutti::mpi
