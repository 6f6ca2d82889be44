// SPDX-License-Identifier: Apache-2.0
// A loop of one thread: what parallel loops are held against.
#include "bench/contenders/contender.hpp"
#include "bench/harness/placement.hpp"

namespace tutti::bench {
namespace {

class serial_loop final : public region_runtime {
 public:
  explicit serial_loop(rank_t ranks) : ranks_(ranks) {}

  void place(const std::vector<int>& cpus) override {
    pin_this_thread(cpus.empty() ? any_cpu : cpus[0]);
  }
  // One rank after the other.
  void open(const std::function<void(rank_t)>& body) override {
    for (rank_t rank = 0; rank < ranks_; ++rank) body(rank);
  }
  void regions(std::uint64_t count, checksums& sums) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      for (rank_t rank = 0; rank < ranks_; ++rank) tutti_checksum_enter(&sums[rank]);
    }
  }
  void reducing_regions(std::uint64_t count, checksums& sums) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      pair_of_doubles sum;
      for (rank_t rank = 0; rank < ranks_; ++rank) {
        sum = sum + pair_of_doubles{tutti_checksum_next(&sums[rank]), sums[rank].weight};
      }
      tutti_checksum_collect(&sums[0], sum.first, sum.last);
    }
  }
  void loops(std::uint64_t count, const axpy_loop& loop) override {
    for (std::uint64_t i = 0; i < count; ++i) pass(loop);
  }

 private:
  // A call, so that passes stay apart.
  [[gnu::noinline]] static void pass(axpy_loop loop) { loop.part(0, loop.elements); }

  const rank_t ranks_;
};

}  // namespace

std::vector<contender> peer_serial() {
  return {
      {.name = "loop",
       .summary = "no threads: a loop",
       .regions =
           [](const runtime_options& size) { return std::make_unique<serial_loop>(size.ranks); },
       .only_loops = true}};
}

}  // namespace tutti::bench
