// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/communicator.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "preload/mpi/inside_a_call.hpp"
#include "preload/mpi/settings.hpp"
#include "src/mpi/wait_until_read.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/ticks.hpp"

namespace tutti::preload {

// --- the end -------------------------------------------------------------------------------------

int communicator::on_free(handle comm, int, void* attribute, void*) noexcept {
  auto* const leaving = static_cast<communicator*>(attribute);
  const library& mpi = leaving->mpi_;
  const handle key = mpi.key(comm);
  // relaxed: publishes nothing.
  leaving->is_freed_.store(true, relaxed);
  if (key == mpi.key(mpi.world)) {
    // MPI_Finalize. No other communicator gets this handle, and whatever is left ends with the
    // process. Between nodes the calls that come now are MPI's own.
    leaving->say_what_was_served();
    if (leaving->outer_) leaving->room_.reset();
    leaving->outer_.reset();
    return 0;
  }
  if (frees_are_told) return 0;
  the_communicators.put(key, nullptr);
  if (being_freed* const here = freed_here(key); here != nullptr)
    here->known = leaving;
  else
    leaving->end();
  return 0;
}

namespace {
// Deeper ones end when their attribute is deleted.
constexpr std::size_t most_freed_here = 8;
}  // namespace

communicator::being_freed* communicator::freed_here(handle key) noexcept {
  static thread_local being_freed all[most_freed_here];
  for (being_freed& one : all)
    if (one.key == key) return &one;
  if (key != 0) return nullptr;
  // Error handlers have left all of them by jumps, or communicators are freed as deep.
  for (being_freed& one : all)
    if (one.known == nullptr) return &one;
  return nullptr;
}

void communicator::begin_to_free(const library& mpi, handle comm) noexcept {
  const handle key = mpi.key(comm);
  // MPI refuses to free the world.
  if (!mpi.is_communicator(comm) || key == mpi.key(mpi.world) || freed_here(key) != nullptr) return;
  if (being_freed* const unused = freed_here(0); unused != nullptr) *unused = {key, nullptr};
}

void communicator::end_of_freeing(const library& mpi, handle comm, bool is_freed) noexcept {
  being_freed* const here = freed_here(mpi.key(comm));
  if (!mpi.is_communicator(comm) || here == nullptr) return;
  communicator* const known = std::exchange(*here, {}).known;
  if (known == nullptr) {
    // Where MPI does not tell the end, the handle may mean another communicator from now on.
    communicator* const untold = the_communicators.find(mpi.key(comm));
    if (is_freed && untold != nullptr && !untold->tells_its_end_) {
      the_communicators.put(mpi.key(comm), nullptr);
      untold->end();
    }
    return;
  }
  // relaxed: publishes nothing.
  known->is_freed_.store(is_freed, relaxed);
  if (is_freed) return known->end();
  // A delete function of the program has failed, and the communicator lives on.
  the_communicators.put(mpi.key(comm), known);
  known->tells_its_end_ = known->set_attribute();
}

void communicator::forget(const library& mpi, handle comm) noexcept {
  communicator* const known = the_communicators.find(mpi.key(comm));
  if (known == nullptr || mpi.key(comm) == mpi.key(mpi.world)) return;
  the_communicators.put(mpi.key(comm), nullptr);
  // The program has freed it, unless MPI is being finalized: then what is between nodes ends with
  // the process, as no call of MPI may come any more. MPI has not said that it is freed if a delete
  // function has made the first call on it.
  // relaxed: publishes nothing.
  if (!known->is_freed_.load(relaxed)) static_cast<void>(known->outer_.release());
  known->end();
}

// What they have made is left to the end of the process: no call of MPI may come any more.
void communicator::end_of_world() noexcept {
  the_communicators.take_out([](const communicator& one) { return one.has_world_; });
}

void communicator::end() noexcept {
  say_what_was_served();
  outer_.reset();
  let_go();
}

void communicator::say_what_was_served() const {
  if (!room_ || rank_ != 0 || !settings::get().is_verbose) return;
  const auto print = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::fprintf(stderr,
               "tutti: %s, %d ranks, is freed: served %llu MPI_Barrier, %llu MPI_Ibarrier, %llu "
               "MPI_Bcast, %llu MPI_Allreduce; left %llu calls to MPI%s\n",
               name_when_set_up_.c_str(), size_, print(served_.barriers),
               print(served_.started_barriers), print(served_.broadcasts),
               print(served_.reductions), print(passed_on_),
               outer_ ? outer_->account().c_str() : "");
}

room& communicator::hold() noexcept {
  // relaxed: the caller is a user already.
  users_.fetch_add(1, relaxed);
  ++served_.started_barriers;
  return *room_;
}

void communicator::let_go() noexcept {
  // acq_rel: the last user destroys what the others have used.
  if (users_.fetch_sub(1, acq_rel) != 1) return;
  if (room_) munmap(room_->base(), room_bytes_);
  delete this;
}

void communicator::make_progress() noexcept {
  // relaxed: publishes nothing.
  progress_(is_freed_.load(relaxed) ? mpi_.world : comm_);
}

namespace {
// When a call of this process has made progress, by the processor's counter.
std::atomic<std::uint64_t> progressed_at{0};

std::uint64_t to_ticks(std::uint64_t ns) noexcept {
  static const double rate = platform::ticks_per_ns();
  return static_cast<std::uint64_t>(rate * static_cast<double>(ns));
}
}  // namespace

int communicator::look() noexcept {
  // relaxed: whoever reads an old time makes progress once more, or a little later.
  if (!pace_.is_due(platform::ticks() - progressed_at.load(relaxed),
                    to_ticks(progress_pace::every_ns)))
    return 0;
  const inside_a_call now;
  make_progress();
  // relaxed: as above.
  progressed_at.store(platform::ticks(), relaxed);
  return 0;
}

// --- the calls -----------------------------------------------------------------------------------

void communicator::look_up(handle type, handle op) noexcept {
  const kind k = mpi_.kind_of(type);
  last_ = {find_combine(mpi_.operation_of(op), k), size_of(k)};
  last_type_ = mpi_.key(type);
  last_op_ = mpi_.key(op);
}

void communicator::begin() noexcept {
  progressing::make_progress = progress_;
  progressing::waits_in = comm_;
}

// `is_outside`: whether the leader of this node waits for other nodes. Then their ranks may know
// who is missing, and so may the leader: they get some more time to say it.
template <class Wait, class Missing, class Outside>
void communicator::insist(const char* call, Wait wait, Missing is_missing,
                          Outside is_outside) noexcept {
  if (deadline_ns_ == 0) [[likely]] {
    wait(no_deadline{}, false);
    return;
  }
  const auto ends_within = [&](std::uint64_t ns, bool is_again) {
    return wait(deadline(platform::now_ns() + ns), is_again);
  };
  bool is_again = false;
  while (!ends_within(deadline_ns_, is_again)) {
    const bool knows_nobody = outer_ && is_outside();
    if (knows_nobody && ends_within(longer_ns(), true)) return;
    // The first rank names those that are missing; another one ends the job only if that fails.
    if (is_again || room_->may_speak())
      report(call, [&](rank_t i) { return !(knows_nobody && i == 0) && is_missing(i); });
    is_again = true;
  }
}
// For how much longer than the deadline a rank waits that does not know who is missing.
std::uint64_t communicator::longer_ns() const noexcept {
  constexpr std::uint64_t least_ns = 50'000'000, most_ns = 1'000'000'000;
  return within(deadline_ns_ / 4, least_ns, most_ns);
}

template <class Missing>
void communicator::report(const char* call, Missing is_missing) noexcept {
  std::string all;
  for (rank_t i = 0; i < room_->ranks(); ++i) {
    if (!is_missing(i)) continue;
    const room::record& one = room_->of(i);
    all += (all.empty() ? "rank " : ", rank ") + std::to_string(one.rank) + " (process " +
           std::to_string(one.pid) + (kill(one.pid, 0) != 0 ? ", which has ended)" : ")");
  }
  end_job(call, all.empty() ? "ranks of other nodes" : all);
}

void communicator::end_job(const char* call, const std::string& missing) noexcept {
  std::fprintf(stderr, "tutti: rank %d of %s has waited in %s for %.3g s for %s\n", rank_,
               name_when_set_up_.c_str(), call, static_cast<double>(deadline_ns_) * 1e-9,
               missing.c_str());
  abort();
}

void communicator::end_job_because(const std::string& why) noexcept {
  std::fprintf(stderr, "tutti: rank %d of %s cannot go on, because %s\n", rank_,
               name_when_set_up_.c_str(), why.c_str());
  abort();
}

void communicator::abort() noexcept {
  tutti::mpi::wait_until_read(STDERR_FILENO);
  mpi_.abort(has_world_ ? mpi_.world : comm_, 1);
}

void communicator::wait_for_others(const char* call) noexcept {
  begin();
  progress_if_due();
  insist(
      call, [&](auto until, bool) { return room_->wait_for_others(until); },
      [&](rank_t i) { return !room_->has_arrived(i); },
      [&] { return room_->is_outside_for_next(); });
}

void communicator::make_room_in_ring(const char* call) noexcept {
  if (room_->ring_is_used_up()) arrive_and_wait(call);
}

void communicator::publish(const void* data, std::size_t bytes, const char* call) noexcept {
  if (room_->ranks() == 1) return;
  make_room_in_ring(call);
  room_->publish(data, bytes);
  progress_if_due();
}

std::size_t communicator::take(void* data, std::size_t most, int root, const char* call) noexcept {
  make_room_in_ring(call);
  progress_if_due();
  std::size_t bytes = 0;
  insist(
      call,
      [&](auto until, bool is_again) { return room_->take(data, most, bytes, until, is_again); },
      [&](rank_t i) { return static_cast<int>(i) == root; },
      [&] { return room_->is_outside_for_this(); });
  return bytes;
}

int communicator::wait_for_other() noexcept {
  const inside_a_call now;
  wait_for_others(barrier_name);
  return 0;
}

int communicator::wake_other() noexcept {
  room_->wake();
  progress_if_due();
  return 0;
}

int communicator::barrier_of_many() noexcept {
  constexpr auto call = barrier_name;
  const inside_a_call now;
  arrive_and_wait(call);
  if (!outer_) return 0;
  begin();
  if (room_->me() != 0) {
    take(nullptr, 0, 0, call);
    return 0;
  }
  room_->go_outside();
  const int error = outer_->barrier();
  publish(nullptr, 0, call);
  return error;
}

int communicator::bcast(void* data, std::size_t bytes, int root, std::size_t& sent) noexcept {
  constexpr auto call = "MPI_Bcast";
  begin();
  ++served_.broadcasts;
  sent = bytes;
  int error = 0;
  const auto from = static_cast<std::size_t>(root);
  const bool is_root_here = !outer_ || node_of_[from] == node_;
  if (is_root_here) {
    if (rank_ == root)
      publish(data, bytes, call);
    else
      sent = take(data, bytes, outer_ ? place_on_node_[from] : root, call);
  }
  if (outer_ && room_->me() == 0) {
    // Here nobody waits for what the root's node sends.
    if (!is_root_here) room_->go_outside();
    error = outer_->bcast(data, static_cast<int>(bytes), node_of_[from]);
  }
  // After an error, too: the other ranks of the node wait.
  if (!is_root_here) {
    if (room_->me() == 0)
      publish(data, bytes, call);
    else
      take(data, bytes, 0, call);
  }
  return error;
}

int communicator::allreduce_between_nodes(const reduced& r) noexcept {
  constexpr auto call = allreduce_name;
  begin();
  if (room_->me() != 0) {
    take(r.values, r.bytes, 0, call);
    return 0;
  }
  room_->combine_all(r.op, r.values, r.count, r.bytes);
  room_->go_outside();
  const int error = outer_->allreduce(r);
  publish(r.values, r.bytes, call);
  return error;
}

}  // namespace tutti::preload
