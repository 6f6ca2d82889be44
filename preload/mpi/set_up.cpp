// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator set it up.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "preload/mpi/communicator.hpp"
#include "preload/mpi/gather.hpp"
#include "preload/mpi/settings.hpp"
#include "src/mpi/wait_until_read.hpp"
#include "tutti/platform/clock.hpp"

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

// Whether a file may have so many bytes: one that may not kills the program by SIGXFSZ.
bool may_have(std::size_t bytes) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
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
  being_freed* const here = freed_here(mpi.key(comm));
  made->tells_its_end_ = here != nullptr || made->set_attribute();
  const std::string reason = made->join();
  if (!reason.empty()) made->say("MPI's own calls, because " + reason);
  if (here != nullptr)
    here->known = made;
  else
    the_communicators.put(mpi.key(comm), made);
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
  if (may_have(room::bytes_for(most)) &&
      ftruncate(offered.number(), static_cast<off_t>(room::bytes_for(most))) == 0)
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
  // communicator, and then the world lets MPI make progress. Bit 2: the end of the communicator is
  // told, so its handle may mean another one afterwards.
  const bool can_poll = mpi_.by == family::mpich
                            ? mpi_.grequest_start_polled != nullptr && has_world_
                            : mpi_.grequest_start != nullptr && mpi_.register_progress != nullptr;
  const auto answer = static_cast<std::uint8_t>((base != nullptr ? 1 : 0) | (can_poll ? 2 : 0) |
                                                (tells_its_end_ ? 4 : 0));
  std::vector<std::uint8_t> answers(count);
  if (!gather(mpi_, comm_, &answer, 1, answers.data())) return "MPI_Iallgather failed";
  std::uint8_t common = 7;
  std::string reason;
  for (std::size_t i = 0; i < count; ++i) {
    common &= answers[i];
    if ((answers[i] & 1) == 0 && reason.empty())
      reason = "rank " + std::to_string(i) + " cannot open the shared memory of its node";
  }
  if ((common & 4) == 0 && reason.empty()) reason = "MPI does not tell a rank when it is freed";
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

}  // namespace tutti::preload
