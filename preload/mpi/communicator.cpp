// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/communicator.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>

#include "preload/mpi/gather.hpp"
#include "preload/mpi/inside_a_call.hpp"
#include "preload/mpi/settings.hpp"
#include "src/mpi/wait_until_read.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/minmax.hpp"

namespace tutti::preload {
namespace {

// --- what the ranks tell each other --------------------------------------------------------------

struct introduction {
  // Increased whenever the room or this introduction changes.
  static constexpr std::uint32_t current_version = 6;
  std::uint32_t version = current_version;
  std::int32_t pid = 0;
  std::uint64_t node = 0;
  // The descriptor of the memory that this rank offers, in case it is the first of its node, and
  // the memory's name, which no other has.
  std::int32_t memory = -1;
  char memory_name[32] = {};
  // Whether TUTTI_MPI_NETWORK names a device, and TUTTI_MPI_DEADLINE a time.
  std::int16_t has_network = 0, has_deadline = 0;
};

class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

// Whether `path`, of a descriptor of another process, leads to the memory of this name. Where /proc
// shows another process under this number (another host that looks like this one, a /proc of
// another PID namespace), it does not, and nothing there may be opened.
bool leads_to(const std::string& path, const char* name) {
  char target[128];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  const std::string expected = "/memfd:" + std::string(name) + " (deleted)";
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == expected;
}

void* map(int memory, std::size_t bytes) noexcept {
  void* const at =
      memory < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void progress_of_open_mpi(std::uintptr_t) noexcept { library::get()->progress(); }
// A probe makes progress. It looks for a message that nobody sends and consumes none. MPICH makes
// none if it finds one, so after that the tag changes.
void progress_by_probe(std::uintptr_t comm) noexcept {
  static thread_local int tag = 32749;
  const library& mpi = *library::get();
  int is_there = 0;
  mpi.iprobe(mpi.any_source, tag, comm, &is_there, mpi.ignored_status);
  if (is_there != 0) tag = tag > 16384 ? tag - 1 : 32749;
}

std::atomic<bool> has_complained{false};

}  // namespace

// --- set-up --------------------------------------------------------------------------------------

namespace {
// Whether MPI_COMM_WORLD is there: between MPI_Init and MPI_Finalize.
bool has_world(const library& mpi) noexcept {
  int is_initialized = 0, is_finalized = 0;
  mpi.initialized(&is_initialized);
  mpi.finalized(&is_finalized);
  return is_initialized != 0 && is_finalized == 0;
}
}  // namespace

bool communicator::can_be_asked_for(const library& mpi, handle comm) noexcept {
  if (!mpi.is_communicator(comm)) return false;
  return has_world(mpi) || (mpi.session_init != nullptr && mpi.is_made_by_program(comm));
}

communicator* communicator::set_up(const library& mpi, handle comm) noexcept try {
  int size = 0;
  if (mpi.comm_size(comm, &size) != 0) return nullptr;

  auto* const made = new communicator(mpi, comm, preload::has_world(mpi));
  made->progress_ = mpi.by == family::openmpi && mpi.progress != nullptr ? progress_of_open_mpi
                                                                         : progress_by_probe;
  made->size_ = size;
  made->name_when_set_up_ = made->name();
  const std::string reason = made->join();
  if (!reason.empty()) made->say("MPI's own calls, because " + reason);
  the_communicators.put(mpi.key(comm), made);
  made->set_attribute();
  return made->room_ ? made : nullptr;
} catch (const std::exception& error) {
  std::fprintf(stderr, "tutti: cannot set up a communicator: %s\n", error.what());
  tutti::mpi::wait_until_read(STDERR_FILENO);
  mpi.abort(mpi.world, 1);
  return nullptr;
}

bool communicator::find_job(handle_space& group) const {
  if (has_world_) return mpi_.comm_group(mpi_.world, &group) == 0;
  handle_space session;
  if (mpi_.session_init(mpi_.no_info, mpi_.errors_return, &session) != 0) return false;
  const bool is_told =
      mpi_.group_from_session_pset(mpi_.value(session), "mpi://WORLD", &group) == 0;
  mpi_.session_finalize(&session);
  return is_told;
}

bool communicator::is_of_one_job() const {
  if (mpi_.key(comm_) == mpi_.key(mpi_.world)) return true;
  handle_space mine, world;
  if (mpi_.comm_group(comm_, &mine) != 0 || !find_job(world)) return false;
  const auto count = static_cast<std::size_t>(size_);
  std::vector<int> ranks(count), there(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  const bool is_told = mpi_.group_translate_ranks(mpi_.value(mine), size_, ranks.data(),
                                                  mpi_.value(world), there.data()) == 0;
  mpi_.group_free(&mine);
  mpi_.group_free(&world);
  return is_told && std::find(there.begin(), there.end(), mpi_.undefined) == there.end();
}

std::string communicator::join() {
  int is_inter = 0;
  if (mpi_.comm_rank(comm_, &rank_) != 0 || mpi_.comm_test_inter(comm_, &is_inter) != 0)
    return "MPI does not tell its rank";
  const settings& said = settings::get();
  // relaxed: publishes nothing.
  if (rank_ == 0 && !has_complained.exchange(true, relaxed))
    for (const std::string& each : said.complaints)
      std::fprintf(stderr, "tutti: %s\n", each.c_str());
  if (is_inter != 0) return "it is an intercommunicator";
  if (size_ == 1) return "it has one rank";
  // Those that MPI_Comm_spawn starts have the launcher's environment and may run without tutti. All
  // ranks find this, because each of them sees ranks of a job that is not its own.
  if (!is_of_one_job()) return "it has ranks of several jobs";

  const auto count = static_cast<std::size_t>(size_);
  introduction mine;
  mine.pid = static_cast<std::int32_t>(getpid());
  mine.node = said.node;
  mine.has_network = said.network.empty() ? 0 : 1;
  mine.has_deadline = said.deadline_ns == 0 ? 0 : 1;
  std::uint64_t drawn = 0;
  const bool is_drawn = getrandom(&drawn, sizeof drawn, 0) == sizeof drawn;
  std::snprintf(mine.memory_name, sizeof mine.memory_name, "tutti-mpi-%016llx",
                static_cast<unsigned long long>(drawn));
  const descriptor offered(is_drawn ? memfd_create(mine.memory_name, MFD_CLOEXEC) : -1);
  const auto most = static_cast<rank_t>(std::min<std::size_t>(count, room::most_ranks));
  if (ftruncate(offered.number(), static_cast<off_t>(room::bytes_for(most))) == 0)
    mine.memory = offered.number();
  deadline_ns_ = said.deadline_ns;
  struct {
    communicator* self;
    std::uint64_t deadline_ns;
    void report() const noexcept { self->end_job("its first call", "ranks that have not made it"); }
  } const late{this, deadline_ns_ == 0 ? UINT64_MAX : platform::now_ns() + deadline_ns_};
  std::vector<introduction> all(count);
  if (!gather(mpi_, comm_, &mine, sizeof mine, all.data(), late)) return "MPI_Iallgather failed";

  // From here on all ranks know the same, so they come to the same results.
  std::vector<int> leaders;
  bool has_network = true, has_deadline = true;
  std::vector<int> node_of(count), place(count);
  std::vector<rank_t> ranks_of;
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].version != introduction::current_version)
      return "rank " + std::to_string(i) + " has loaded another version of tutti";
    has_network = has_network && all[i].has_network != 0;
    has_deadline = has_deadline && all[i].has_deadline != 0;
    std::size_t node = 0;
    while (node < leaders.size() &&
           all[static_cast<std::size_t>(leaders[node])].node != all[i].node)
      ++node;
    if (node == leaders.size()) {
      leaders.push_back(static_cast<int>(i));
      ranks_of.push_back(0);
    }
    node_of[i] = static_cast<int>(node);
    place[i] = static_cast<int>(ranks_of[node]++);
  }
  if (leaders.size() == count && !has_network) return "no two of its ranks share a node";
  for (std::size_t node = 0; node < leaders.size(); ++node)
    if (ranks_of[node] > room::most_ranks)
      return "a node has more than " + std::to_string(room::most_ranks) + " of its ranks";

  node_ = node_of[static_cast<std::size_t>(rank_)];
  const int leader = leaders[static_cast<std::size_t>(node_)];
  const rank_t here = ranks_of[static_cast<std::size_t>(node_)];
  room_bytes_ = room::bytes_for(here);
  void* base = nullptr;
  if (leader == rank_) {
    base = map(mine.memory, room_bytes_);
    if (base != nullptr) {
      room::build(base, here);
      room view(base, here, 0);
      for (std::size_t i = 0; i < count; ++i)
        if (node_of[i] == node_) {
          view.of(static_cast<rank_t>(place[i])).pid = all[i].pid;
          view.of(static_cast<rank_t>(place[i])).rank = static_cast<std::int32_t>(i);
        }
    }
  } else {
    const introduction& owner = all[static_cast<std::size_t>(leader)];
    const std::string path =
        "/proc/" + std::to_string(owner.pid) + "/fd/" + std::to_string(owner.memory);
    const bool is_there = owner.memory >= 0 && leads_to(path, owner.memory_name);
    const descriptor opened(is_there ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1);
    base = map(opened.number(), room_bytes_);
  }

  // Bit 0: the room is open. Bit 1: requests for MPI_Ibarrier can be made. They may outlive the
  // communicator, and then the world lets MPI make progress.
  const bool can_poll = mpi_.by == family::mpich
                            ? mpi_.grequest_start_polled != nullptr && has_world_
                            : mpi_.grequest_start != nullptr && mpi_.register_progress != nullptr;
  const auto answer = static_cast<std::uint8_t>((base != nullptr ? 1 : 0) | (can_poll ? 2 : 0));
  std::vector<std::uint8_t> answers(count);
  if (!gather(mpi_, comm_, &answer, 1, answers.data())) return "MPI_Iallgather failed";
  std::uint8_t common = 3;
  std::string reason;
  for (std::size_t i = 0; i < count; ++i) {
    common &= answers[i];
    if ((answers[i] & 1) == 0 && reason.empty())
      reason = "rank " + std::to_string(i) + " cannot open the shared memory of its node";
  }
  std::unique_ptr<between_nodes> outer;
  if (reason.empty() && leaders.size() > 1) {
    bool is_made = false;
    const preload::leader me{
        .mpi = mpi_,
        .comm = comm_,
        .rank = rank_,
        .is_leader = leader == rank_,
        .node = node_,
        .leaders = leaders,
        .deadline_ns = deadline_ns_,
        .patience_ns = has_deadline ? deadline_ns_ + longer_ns() : 0,
        .make_progress = [](void* self) { static_cast<communicator*>(self)->make_progress(); },
        .report =
            [](void* self, const std::string& missing) {
              static_cast<communicator*>(self)->end_job("a call between nodes", missing);
            },
        .give_up =
            [](void* self, const std::string& why) {
              static_cast<communicator*>(self)->end_job_because(why);
            },
        .state = this,
    };
    outer =
        has_network ? leaders_by_network(me, said.network, is_made) : leaders_by_mpi(me, is_made);
    if (!is_made) reason = "MPI_Comm_split failed";
  }
  if (!reason.empty()) {
    if (base != nullptr) munmap(base, room_bytes_);
    return reason;
  }
  polls_barriers_ = (common & 2) != 0 && leaders.size() == 1;
  is_of_two_ = count == 2 && leaders.size() == 1;
  room_.emplace(base, here, static_cast<rank_t>(place[static_cast<std::size_t>(rank_)]));
  if (leaders.size() > 1) {
    outer_ = std::move(outer);
    node_of_ = std::move(node_of);
    place_on_node_ = std::move(place);
    say((leaders.size() == count ? std::string() : "shared memory in each of ") +
        std::to_string(leaders.size()) + " nodes, " + outer_->path());
  } else {
    say("shared memory");
  }
  return {};
}

std::string communicator::name() const {
  // MPI_MAX_OBJECT_NAME is at most 128.
  char text[512] = "";
  int length = 0;
  mpi_.comm_get_name(comm_, text, &length);
  return text[0] == '\0' ? "a communicator" : text;
}

void communicator::say(const std::string& what) const {
  if (rank_ != 0 || !settings::get().is_verbose) return;
  std::fprintf(stderr, "tutti: %s, %d ranks: %s\n", name().c_str(), size_, what.c_str());
}

// --- the end -------------------------------------------------------------------------------------

bool communicator::set_attribute() noexcept {
  // A key of its own for each communicator, because keys may end with the last session.
  int key = 0;
  using copy_function = int (*)(handle, int, void*, void*, void*, int*);
  const copy_function copy = [](handle, int, void*, void*, void*, int* is_copied) {
    *is_copied = 0;
    return 0;
  };
  using remove_function = int (*)(handle, int, void*, void*) noexcept;
  const remove_function remove = on_free;
  if (mpi_.comm_create_keyval(reinterpret_cast<void*>(copy), reinterpret_cast<void*>(remove), &key,
                              nullptr) != 0)
    return false;
  const bool is_set = mpi_.comm_set_attr(comm_, key, this) == 0;
  mpi_.comm_free_keyval(&key);
  return is_set;
}

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
  return nullptr;
}

void communicator::begin_to_free(const library& mpi, handle comm) noexcept {
  const handle key = mpi.key(comm);
  if (!mpi.is_communicator(comm) || freed_here(key) != nullptr) return;
  if (being_freed* const unused = freed_here(0); unused != nullptr) *unused = {key, nullptr};
}

void communicator::end_of_freeing(const library& mpi, handle comm, bool is_freed) noexcept {
  being_freed* const here = freed_here(mpi.key(comm));
  if (!mpi.is_communicator(comm) || here == nullptr) return;
  communicator* const known = std::exchange(*here, {}).known;
  if (known == nullptr) return;
  if (is_freed) return known->end();
  // A delete function of the program has failed, and the communicator lives on.
  // relaxed: publishes nothing.
  known->is_freed_.store(false, relaxed);
  the_communicators.put(mpi.key(comm), known);
  known->set_attribute();
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
  if (mpi_.progress != nullptr)
    mpi_.progress();
  else
    progress_by_probe(is_freed_.load(relaxed) ? mpi_.world : comm_);
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
  insist(
      call, [&](auto until, bool) { return room_->wait_for_others(until); },
      [&](rank_t i) { return !room_->has_arrived(i); },
      [&] { return room_->is_outside_for_next(); });
}

void communicator::make_room_in_ring(const char* call) noexcept {
  if (room_->ring_is_used_up() && !room_->arrive()) wait_for_others(call);
}

void communicator::publish(const void* data, std::size_t bytes, const char* call) noexcept {
  if (room_->ranks() == 1) return;
  make_room_in_ring(call);
  room_->publish(data, bytes);
}

std::size_t communicator::take(void* data, std::size_t most, int root, const char* call) noexcept {
  make_room_in_ring(call);
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
  return 0;
}

int communicator::barrier_of_many() noexcept {
  constexpr auto call = barrier_name;
  const inside_a_call now;
  if (!room_->arrive()) wait_for_others(call);
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
