// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/between_nodes.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "preload/mpi/gather.hpp"
#include "preload/mpi/inside_a_call.hpp"
#include "preload/mpi/network/path.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::preload {
namespace {

class over_mpi : public between_nodes {
 public:
  explicit over_mpi(const leader& me) noexcept : me_(me) {}
  bool make() noexcept {
    return me_.mpi.comm_split(me_.comm, me_.is_leader ? 0 : me_.mpi.undefined, me_.rank,
                              &leaders_) == 0;
  }
  // The leaders' communicator is freed with the one that it serves, by all leaders. MPI frees the
  // world inside MPI_Finalize, where MPICH 4.0.2 over TCP often waits for ever, without tutti as
  // well; so nothing else is freed there.
  ~over_mpi() override {
    if (me_.is_leader && me_.mpi.key(me_.comm) != me_.mpi.key(me_.mpi.world))
      me_.mpi.comm_free(&leaders_);
  }
  // Open MPI asks its components for the leaders' communicator as well.
  int barrier() noexcept override {
    const inside_a_call now;
    if (me_.patience_ns == 0) return me_.mpi.barrier(leaders());
    handle_space request;
    return wait_for(request, me_.mpi.ibarrier(leaders(), &request));
  }
  int bcast(void* data, int bytes, int node) noexcept override {
    const inside_a_call now;
    if (me_.patience_ns == 0) return me_.mpi.bcast(data, bytes, me_.mpi.byte, node, leaders());
    handle_space request;
    return wait_for(request, me_.mpi.ibcast(data, bytes, me_.mpi.byte, node, leaders(), &request));
  }
  int allreduce(const reduced& r) noexcept override {
    const inside_a_call now;
    const int count = static_cast<int>(r.count);
    if (me_.patience_ns == 0)
      return me_.mpi.allreduce(me_.mpi.in_place, r.values, count, r.type, r.mpi_op, leaders());
    handle_space request;
    return wait_for(request, me_.mpi.iallreduce(me_.mpi.in_place, r.values, count, r.type, r.mpi_op,
                                                leaders(), &request));
  }
  std::string path() const override { return "MPI's own calls between their first ranks" + why_; }
  std::string account() const override { return {}; }
  void explain(const std::string& why) { why_ = ", because " + why; }

 protected:
  handle leaders() const noexcept { return me_.mpi.value(leaders_); }
  // A wait that no deadline ends, because the communicator is freed meanwhile.
  void wait_for_leaders() noexcept {
    const inside_a_call now;
    me_.mpi.barrier(leaders());
  }

  const leader me_;

 private:
  // Waits for a call that has been started with this error. MPI's blocking calls would know of no
  // deadline.
  int wait_for(handle_space& request, int error) noexcept {
    const std::uint64_t end_ns = platform::now_ns() + me_.patience_ns;
    for (int is_done = 0; error == 0;) {
      error = me_.mpi.test(&request, &is_done, me_.mpi.ignored_status);
      if (is_done != 0) break;
      if (platform::now_ns() > end_ns) me_.report(me_.state, "ranks of other nodes");
      native::yield();
    }
    return error;
  }

  handle_space leaders_{};
  std::string why_;
};

// --- the network ---------------------------------------------------------------------------------

// The folder of the file of this library, not of a link to it: a home has a link to Open MPI's
// component.
std::string folder_of_this_library() {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&folder_of_this_library), &self);
  if (self.dli_fname == nullptr) return {};
  const std::unique_ptr<char, void (*)(void*)> file(realpath(self.dli_fname, nullptr), std::free);
  const std::string path = file ? file.get() : self.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

// Finds the library beside this one, or one folder up, where Open MPI's component lies.
const network_path* load_network_path(std::string& why) {
  const std::string folder = folder_of_this_library();
  void* library = nullptr;
  for (const char* up : {"", "../"}) {
    if (library != nullptr) break;
    library = dlopen((folder + up + "libtutti-mpi-network.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    // The first is the place that people expect.
    if (library == nullptr && why.empty()) why = dlerror();
  }
  if (library == nullptr) return nullptr;
  const auto find = reinterpret_cast<find_network_path>(dlsym(library, network_path_function));
  const network_path* const path = find == nullptr ? nullptr : find(network_offer::current_version);
  if (path == nullptr) why = "libtutti-mpi-network.so is of another version";
  return path;
}

class over_network final : public over_mpi {
 public:
  explicit over_network(const leader& me) : over_mpi(me), missing_(me.leaders.size()) {}
  // All leaders have left their last call: nobody asks this node for a packet of it any more.
  ~over_network() override {
    if (opened_ == nullptr) return;
    wait_for_leaders();
    path_->close(opened_);
  }

  // Collective over the leaders. Returns the reason why they cannot take this path.
  std::string open(const std::string& network) {
    const std::size_t nodes = me_.leaders.size();
    network_offer mine;
    std::string why;
    path_ = load_network_path(why);
    // relaxed: publishes nothing.
    if (path_ != nullptr && !is_in_vain.load(relaxed))
      path_->offer(network.c_str(), &mine);
    else
      std::snprintf(mine.why, sizeof mine.why, "%s", path_ == nullptr ? why.c_str() : lost);
    std::vector<network_offer> all(nodes);
    if (std::string refusal = refused(mine, all); !refusal.empty()) return refusal;
    network_offer answer;
    opened_ = path_->open(network.c_str(), all.data(), static_cast<unsigned>(nodes),
                          static_cast<unsigned>(me_.node), answer.why, sizeof answer.why);
    answer.can_serve = opened_ != nullptr ? 1 : 0;
    if (opened_ != nullptr)
      carried_ = std::min<std::size_t>(path_->most_values(opened_), most_words);
    if (std::string refusal = refused(answer, all); !refusal.empty()) return refusal;
    // Hosts with a router between them have started it, too, but their packets do not arrive.
    network_offer tried;
    tried.can_serve = is_tried(tried) ? 1 : 0;
    return refused(tried, all);
  }

  int barrier() noexcept override { return episode(nullptr, 0) ? 0 : over_mpi::barrier(); }

  int bcast(void* data, int bytes, int node) noexcept override {
    const auto length = static_cast<std::size_t>(bytes);
    if (words_of(length) > carried_) return leave_bcast(data, bytes, node);
    std::uint64_t values[most_words] = {};
    if (node == me_.node) std::memcpy(values, data, length);
    if (!episode(values, words_of(length))) return leave_bcast(data, bytes, node);
    // The root's data is only read: it may be constant.
    if (node != me_.node) std::memcpy(data, values, length);
    return 0;
  }

  // Every node's values travel in places of their own, and each node combines them in the order of
  // nodes: any operation on any type, and the same bits everywhere.
  int allreduce(const reduced& r) noexcept override {
    const std::size_t nodes = me_.leaders.size();
    const std::size_t each = words_of(r.bytes), all = each * nodes;
    if (all > carried_ * most_episodes) return leave_allreduce(r);
    std::uint64_t values[most_words * most_episodes] = {};
    std::memcpy(values + each * static_cast<std::size_t>(me_.node), r.values, r.bytes);
    for (std::size_t at = 0; at < all; at += carried_)
      if (!episode(values + at, static_cast<unsigned>(std::min(carried_, all - at))))
        return leave_allreduce(r);
    for (std::size_t node = 1; node < nodes; ++node) r.op(values, values + each * node, r.count);
    std::memcpy(r.values, values, r.bytes);
    return 0;
  }

  std::string path() const override {
    if (opened_ == nullptr) return over_mpi::path();
    char text[200] = "";
    path_->describe(opened_, text, sizeof text);
    return text;
  }
  std::string account() const override {
    if (opened_ == nullptr) return {};
    char text[200] = "";
    path_->account(opened_, text, sizeof text);
    return "; " + std::to_string(episodes_) + " episodes in the network (" + text + "), " +
           std::to_string(left_) + " calls between nodes left to MPI";
  }

 private:
  // What a packet may carry, and how many packets a reduction may take.
  static constexpr std::size_t most_words = 32, most_episodes = 4;
  static constexpr std::uint64_t trial_ns = 2'000'000'000;
  static constexpr const char* lost = "the packets of a barrier do not arrive, or not within 2 s";
  // Packets of this process have not arrived: its next communicators do not wait for them again.
  static inline std::atomic<bool> is_in_vain{false};
  static constexpr unsigned words_of(std::size_t bytes) noexcept {
    return static_cast<unsigned>((bytes + 7) / 8);
  }
  // Returns why a node does not take this path, which then all leave.
  std::string refused(const network_offer& mine, std::vector<network_offer>& all) {
    if (!gather(me_.mpi, leaders(), &mine, sizeof mine, all.data())) return "MPI_Iallgather failed";
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].can_serve != 0) continue;
      if (opened_ != nullptr) path_->close(std::exchange(opened_, nullptr));
      return at(i) + all[i].why;
    }
    return {};
  }
  // Whether the packets of a first barrier arrive.
  bool is_tried(network_offer& mine) noexcept {
    const int outcome = path_->episode(opened_, nullptr, 0, trial_ns, missing_.data(),
                                       me_.make_progress, me_.state, mine.why, sizeof mine.why);
    if (outcome == 1) {
      std::snprintf(mine.why, sizeof mine.why, "%s", lost);
      // relaxed: publishes nothing.
      is_in_vain.store(true, relaxed);
    }
    return outcome == 0;
  }
  std::string at(std::size_t node) const {
    return "on the node of rank " + std::to_string(me_.leaders[node]) + ", ";
  }
  int leave_bcast(void* data, int bytes, int node) noexcept {
    ++left_;
    return over_mpi::bcast(data, bytes, node);
  }
  int leave_allreduce(const reduced& r) noexcept {
    ++left_;
    return over_mpi::allreduce(r);
  }
  // Returns false if all leaders take MPI's own call.
  bool episode(std::uint64_t* values, unsigned count) noexcept {
    if (opened_ == nullptr) return false;
    ++episodes_;
    char why[200];
    const int outcome = path_->episode(opened_, values, count, me_.deadline_ns, missing_.data(),
                                       me_.make_progress, me_.state, why, sizeof why);
    if (outcome == 0) [[likely]]
      return true;
    end_job(outcome, why);
    return true;
  }
  // Does not return.
  [[gnu::cold]] void end_job(int outcome, const char* why) noexcept {
    constexpr const char* causes[] = {"", " (its node has not called)",
                                      " (its node does not answer)",
                                      " (its engine has sent nothing)"};
    std::string who;
    for (std::size_t node = 0; node < missing_.size(); ++node)
      if (missing_[node] != 0)
        who += (who.empty() ? "rank " : ", rank ") + std::to_string(me_.leaders[node]) +
               causes[missing_[node]];
    if (outcome == 1)
      me_.report(me_.state, who.empty() ? "the network" : who);
    else
      me_.give_up(me_.state, why);
  }

  const network_path* path_ = nullptr;
  void* opened_ = nullptr;
  // How many words a packet carries here.
  std::size_t carried_ = most_words;
  std::uint64_t episodes_ = 0, left_ = 0;
  // Why a node is missing when an episode fails.
  std::vector<unsigned char> missing_;
};

}  // namespace

std::unique_ptr<between_nodes> leaders_by_mpi(const leader& me, bool& is_made) {
  auto made = std::make_unique<over_mpi>(me);
  is_made = made->make();
  return made;
}

std::unique_ptr<between_nodes> leaders_by_network(const leader& me, const std::string& network,
                                                  bool& is_made) {
  auto made = std::make_unique<over_network>(me);
  is_made = made->make();
  if (!is_made || !me.is_leader) return made;
  if (const std::string why = made->open(network); !why.empty()) made->explain(why);
  return made;
}

}  // namespace tutti::preload
