// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry, in the shapes that two to four participants can give it, with
// each wait policy.
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/destroying.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/registry.hpp"

namespace tutti::model {
namespace {

using spinning = spin_wait<checked>;
using parking = park_wait<checked, 1>;
using adapting = adaptive_wait<checked>;

// The name of the entry with this type for the model.
template <class Wait>
std::string wait_name() {
  std::string_view name;
  [&]<class... Entry>(std::tuple<Entry...>*) {
    (void)((std::is_same_v<Wait, typename Entry::template shortest<checked>> &&
            (name = Entry::info.name, true)) ||
           ...);
  }(static_cast<registry::waits*>(nullptr));
  return std::string(name);
}

// The shape that the registry makes.
template <class Algorithm, class Wait>
program usual(rank_t n) {
  return meet(wait_name<Wait>(), n, [](rank_t participants) {
    return Algorithm::template make<checked, Wait>(participants);
  });
}

template <class Algorithm, class Wait>
void add_shapes(rank_t n, std::vector<program>& to) {
  to.push_back(usual<Algorithm, Wait>(n));
  if constexpr (requires { Algorithm::small_from; }) {
    if (n < Algorithm::small_from) return;
    to.push_back(meet(wait_name<Wait>() + ", small", n, [](rank_t participants) {
      return Algorithm::template make_small<checked, Wait>(participants);
    }));
  }
}

template <class Algorithm>
subject subject_for() {
  subject made{std::string(Algorithm::info.name), {}};
  for (rank_t n = 2; n <= 4; ++n) {
    add_shapes<Algorithm, spinning>(n, made.programs);
    add_shapes<Algorithm, parking>(n, made.programs);
  }
  made.programs.push_back(usual<Algorithm, adapting>(2));
  return made;
}

// Four threads, any two of which complete an episode.
template <class Wait>
class pooling : public scenario {
 public:
  void thread(rank_t rank) override { barrier_.arrive_and_wait(rank); }

 private:
  pool_barrier<checked, Wait> barrier_{2};
};

void add_pool_programs(std::vector<program>& to) {
  for (rank_t n = 2; n <= 3; ++n)
    to.push_back(destroyed_by_first<pool_barrier<checked, parking>>(n));
  to.push_back({"park, any 2 of 4 threads", 4, []() -> std::unique_ptr<scenario> {
                  return std::make_unique<pooling<parking>>();
                }});
}

// No participant has a rank: all begin at the same leaf and change leaves. The last participant
// drops out on the way.
template <class Wait>
class roaming : public scenario {
 public:
  roaming(rank_t participants, rank_t fan, bool drops)
      : n_(participants), drops_(drops), barrier_(participants, fan) {}

  void thread(rank_t rank) override {
    typename striped_barrier<checked, Wait>::thread_state mine;
    const auto complete = [this] { completions_ = completions_ + 1; };
    for (unsigned episode = 0; episode < episodes; ++episode) {
      const bool is_last = drops_ && rank == n_ - 1 && episode == 1;
      board_.write(episode, rank);
      const std::uint32_t arrived_in = barrier_.arrive(mine, is_last, complete);
      RL_ASSERT(arrived_in == episode);
      if (is_last) return;
      barrier_.wait(arrived_in, mine);
      board_.check_all(episode, drops_ && episode > 1 ? n_ - 1 : n_);
      RL_ASSERT(completions_ == episode + 1);
    }
  }

 private:
  static constexpr unsigned episodes = 3;

  rank_t n_;
  bool drops_;
  striped_barrier<checked, Wait> barrier_;
  checked_plain<unsigned> completions_{0};
  board board_;
};

template <class Wait>
program roam(rank_t n, rank_t fan, bool drops) {
  return {wait_name<Wait>() + (drops ? ", roaming and dropping" : ", roaming") +
              ", completion, fan " + std::to_string(fan) + ", n = " + std::to_string(n),
          n, [=]() -> std::unique_ptr<scenario> {
            return std::make_unique<roaming<Wait>>(n, fan, drops);
          }};
}

// Nobody waits: a thread that comes early for the next episode comes again until the episode has
// ended. Each completion must see what the one before it has done.
template <class Wait>
class passing : public scenario {
 public:
  passing(rank_t participants, rank_t fan) : barrier_(participants, fan) {}

  void thread(rank_t /*rank*/) override {
    typename striped_barrier<checked, Wait>::thread_state mine;
    const auto complete = [this] { completions_ = completions_ + 1; };
    for (unsigned i = 0; i < 2; ++i) barrier_.arrive(mine, false, complete);
  }

 private:
  striped_barrier<checked, Wait> barrier_;
  checked_plain<unsigned> completions_{0};
};

template <class Wait>
program pass(rank_t n, rank_t fan) {
  return {wait_name<Wait>() + ", without waiting, completion, fan " + std::to_string(fan) +
              ", n = " + std::to_string(n),
          n,
          [=]() -> std::unique_ptr<scenario> { return std::make_unique<passing<Wait>>(n, fan); }};
}

void add_striped_programs(std::vector<program>& to) {
  for (rank_t n = 2; n <= 3; ++n)
    for (rank_t fan = 1; fan <= 2; ++fan) to.push_back(pass<spinning>(n, fan));
  for (const bool drops : {false, true}) {
    to.push_back(roam<spinning>(2, 1, drops));
    to.push_back(roam<spinning>(3, 1, drops));
    to.push_back(roam<spinning>(3, 2, drops));
    to.push_back(roam<parking>(3, 1, drops));
    to.push_back(roam<parking>(4, 2, drops));
  }
}

// Words that are notified after a plain store, and after a seq_cst update.
subject sleepers_subject() {
  subject made{"sleepers", {}, "sleepers."};
  for (rank_t n = 2; n <= 3; ++n) {
    made.programs.push_back(usual<registry::ticket, parking>(n));
    made.programs.push_back(usual<registry::flags, parking>(n));
    made.programs.push_back(usual<registry::pool, parking>(n));
    made.programs.push_back(usual<registry::dissemination, parking>(n));
  }
  for (program& p : made.programs) p.name = "see the algorithms: " + p.name;
  for (program& p : eventcount_programs()) made.programs.push_back(std::move(p));
  return made;
}

// The wait policies that the other subjects do not use: no sleeper is forgotten, and each of the
// policy's own orders is needed.
template <class... Entry>
void add_waits(std::vector<subject>& to, std::tuple<Entry...>*) {
  const auto add = [&]<class E>(E) {
    using wait = typename E::template shortest<checked>;
    static const std::string sites = std::string(E::info.name) + '.';
    if constexpr (!std::is_same_v<wait, spinning> && !std::is_same_v<wait, parking> &&
                  !std::is_same_v<wait, adapting>) {
      subject made{"wait: " + std::string(E::info.name), {}, sites};
      made.programs.push_back(usual<registry::ticket, wait>(2));
      made.programs.push_back(usual<registry::flags, wait>(3));
      made.programs.push_back(usual<registry::dissemination, wait>(2));
      to.push_back(std::move(made));
    }
  };
  (add(Entry()), ...);
}

template <class... Algorithm>
std::vector<subject> all(std::tuple<Algorithm...>*) {
  return {subject_for<Algorithm>()...};
}

}  // namespace

std::vector<subject> algorithm_subjects() {
  std::vector<subject> made = all(static_cast<registry::algorithms*>(nullptr));
  for (subject& s : made) {
    if (s.name == registry::pool::info.name) add_pool_programs(s.programs);
    if (s.name == registry::striped::info.name) add_striped_programs(s.programs);
  }
  made.push_back(sleepers_subject());
  add_waits(made, static_cast<registry::waits*>(nullptr));
  return made;
}

}  // namespace tutti::model
