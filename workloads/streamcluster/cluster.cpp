// SPDX-License-Identifier: Apache-2.0
// The stream: each chunk is read and searched; only its centres are kept, and these are searched at
// the end.
#include <array>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <string>

#include "workloads/streamcluster/means.hpp"
#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

void check(const options& how) {
  const auto refuse_unless = [](bool holds, const std::string& sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  const auto text = [](std::size_t n) { return std::to_string(n); };
  refuse_unless(how.k_min >= 1, "k_min is 0: at least one centre is needed");
  refuse_unless(how.k_min <= how.k_max,
                "k_min (" + text(how.k_min) + ") is greater than k_max (" + text(how.k_max) + ")");
  refuse_unless(
      how.chunk > how.k_max,
      "a chunk of " + text(how.chunk) + " points is not more than k_max (" + text(how.k_max) + ")");
  refuse_unless(how.chunk <= UINT32_MAX,
                "a chunk of " + text(how.chunk) + " points is more than 4294967295");
  refuse_unless(how.limit / 2 >= how.k_max, "the limit of " + text(how.limit) +
                                                " centres is less than twice k_max (" +
                                                text(how.k_max) + ")");
}

class stream {
 public:
  stream(const rank_group& ranks, source& points, const options& how)
      : ranks_(ranks),
        source_(points),
        how_(how),
        chunk_(points.dimensions()),
        kept_(points.dimensions()),
        condensed_(points.dimensions()),
        row_(points.dimensions()),
        search_(ranks.size, how.k_min, how.k_max, how.seed) {}

  clustering run() {
    const auto begin = clock::now();
    while (read_chunk()) {
      reduce(chunk_, kept_);
      if (kept_.size() + how_.k_max > how_.limit) {
        condense();
        ++found_.counts.condensations;
      }
      if (how_.on_progress) how_.on_progress(found_.counts.points);
    }
    if (kept_.empty()) throw std::invalid_argument("there are no points to cluster");
    condense();
    copy_centres();
    found_.counts.search = search_.counts();
    found_.counts.seconds = seconds_since(begin);
    return std::move(found_);
  }

 private:
  bool read_chunk() {
    const auto begin = clock::now();
    std::uint64_t& read = found_.counts.points;
    chunk_.clear();
    while (chunk_.size() < how_.chunk && source_.next(row_)) chunk_.push(row_, 1, read++);
    found_.counts.read_seconds += seconds_since(begin);
    return !chunk_.empty();
  }

  // Appends the centres of `from` to `to`, in one region.
  void reduce(const point_set& from, point_set& to) {
    bool usable = true;
    ranks_.run([&](collectives& me) {
      const bool searched = search_.run(me, from);
      const double cost = searched ? means_.run(me, search_.points(), to) : 0;
      if (!me.decides()) return;
      usable = searched;
      found_.cost += cost;
      found_.counts.regions += 1;
      found_.counts.barriers += me.barriers();
      found_.counts.reductions += me.reductions();
    });
    if (!usable) {
      throw std::runtime_error("among the first " + std::to_string(found_.counts.points) +
                               " points some are so far apart that a float cannot hold their "
                               "squared distance");
    }
  }

  void condense() {
    reduce(kept_, condensed_);
    std::swap(kept_, condensed_);
    condensed_.clear();
  }

  void copy_centres() {
    found_.dimensions = kept_.dimensions();
    found_.coordinates.resize(kept_.size() * kept_.dimensions());
    for (std::size_t c = 0; c < kept_.size(); ++c) {
      kept_.copy(c, {found_.coordinates.data() + c * kept_.dimensions(), kept_.dimensions()});
      found_.weights.push_back(kept_.weight(c));
      found_.positions.push_back(kept_.position(c));
    }
  }

  const rank_group& ranks_;
  source& source_;
  const options& how_;
  point_set chunk_;
  point_set kept_;
  point_set condensed_;
  std::vector<float> row_;
  local_search search_;
  mean_step means_;
  clustering found_;
};

constexpr std::array<named_input, 4> inputs{{
    {"simsmall", 4096, 32, 10, 20, 4096, 1000},
    {"simmedium", 8192, 64, 10, 20, 8192, 1000},
    {"simlarge", 16384, 128, 10, 20, 16384, 1000},
    {"native", 1000000, 128, 10, 20, 200000, 5000},
}};

}  // namespace

std::span<const named_input> named_inputs() noexcept { return inputs; }

clustering cluster(const rank_group& ranks, source& points, const options& how) {
  check(how);
  if (points.dimensions() == 0) throw std::invalid_argument("the points have no dimensions");
  return stream(ranks, points, how).run();
}

std::uint64_t fingerprint(const clustering& found) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ (word >> (8 * byte) & 0xff)) * 0x100000001b3;
    }
  };
  for (const float x : found.coordinates) add(std::bit_cast<std::uint32_t>(x));
  for (const double w : found.weights) add(std::bit_cast<std::uint64_t>(w));
  for (const std::uint64_t p : found.positions) add(p);
  return hash;
}

}  // namespace tutti::streamcluster
