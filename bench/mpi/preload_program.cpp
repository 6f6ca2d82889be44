// SPDX-License-Identifier: Apache-2.0
// tutti-bench-mpi-preload-<family>: MPI_Barrier and an 8-byte MPI_Allreduce of the preload, of the
// MPI itself, and a ticket barrier among the same processes, in turns. preload.py starts it under
// the launcher of each MPI, with the preload, and collects its lines.
//
// The loader binds the program's own calls to the preload. The MPI's functions are found in its
// library, so that both are measured in the same processes.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/record.hpp"
#include "bench/mpi/process.hpp"
#include "bench/mpi/ranks.hpp"
#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "cli/result_line.hpp"
#include "tutti/barrier/participant.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/mpi/calls_of_mpi_h.hpp"
#include "tutti/platform/across_processes.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/wait/between_processes.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::bench {
namespace {

struct request {
  std::uint64_t rounds = 3;
  // Longer than some slices of the scheduler: right after an MPI that spins, ranks in sessions of
  // their own must first get even.
  double batch_ms = 20;
};

// The memory that all ranks share: the ticket barrier, what its waits know of the node's CPUs, and
// the times at which each rank began and ended each operation. The barrier's waits yield for up to
// half a millisecond before they sleep, which is best on CPUs that nobody else uses. If each
// process learned for itself what yields achieve, some would sleep, and with 16 processes in
// sessions of their own the barrier would take two to five times as long.
class shared_memory {
 public:
  using barrier = ticket_barrier<across_processes, process_wait<across_processes>>;
  static constexpr std::uint64_t most_stamps = 1024;
  struct stamp {
    std::uint64_t begin = 0, end = 0;
  };

  shared_memory() {
    const auto ranks = static_cast<std::size_t>(all_ranks());
    const std::size_t bytes = sizeof(head) + ranks * most_stamps * sizeof(stamp);
    std::array<int, 2> offer{static_cast<int>(getpid()), -1};
    if (my_rank() == 0) {
      offer[1] = memfd_create("tutti-bench", MFD_CLOEXEC);
      if (ftruncate(offer[1], static_cast<off_t>(bytes)) == 0 && map(offer[1], bytes))
        ::new (base_) head(static_cast<rank_t>(ranks));
    }
    MPI_Bcast(offer.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (my_rank() != 0)
      map(open(fmt::format("/proc/{}/fd/{}", offer[0], offer[1]).c_str(), O_RDWR | O_CLOEXEC),
          bytes);
    if (base_ == nullptr) throw std::runtime_error("the ranks cannot share memory");
    across_processes::node_hints = the_head().hints;
    if (my_rank() == 0) the_head().episodes.set_patience(patience::of_ns(500'000));
  }

  void meet() { the_head().episodes.wait(the_head().episodes.draw(), wait_); }
  // Between measurements. What the preload learns from its waits must not come from these, which
  // are long after calls of an MPI that spins.
  void gather() { the_head().gate.wait(the_head().gate.draw(), gate_wait_); }
  // Returns rank 0's value on all ranks.
  double from_rank_0(double value) {
    if (my_rank() == 0) the_head().value = value;
    gather();
    value = the_head().value;
    gather();
    return value;
  }
  stamp* stamps(int rank) const {
    return reinterpret_cast<stamp*>(static_cast<std::byte*>(base_) + sizeof(head)) +
           static_cast<std::uint64_t>(rank) * most_stamps;
  }

 private:
  struct alignas(cache_line) head {
    explicit head(rank_t ranks) : episodes(ranks), gate(ranks) {}
    barrier episodes, gate;
    double value = 0;
    platform::cpu_hints hints[platform::core_slots];
  };
  bool map(int file, std::size_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) base_ = at;
    return base_ != nullptr;
  }
  head& the_head() const { return *static_cast<head*>(base_); }

  void* base_ = nullptr;
  process_wait<across_processes>::wait_state wait_{}, gate_wait_{};
};

template <class Function>
Function* own(const char* name) {
  Dl_info where;
  void* const initializer = dlsym(RTLD_DEFAULT, "MPI_Init");
  void* const library = initializer != nullptr && dladdr(initializer, &where) != 0
                            ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                            : nullptr;
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(fmt::format("the MPI has no {}", name));
  return reinterpret_cast<Function*>(found);
}

struct series {
  std::string provider, name;
  std::function<void(std::uint64_t)> run;
  std::function<void(std::uint64_t, shared_memory::stamp*)> run_with_stamps;
  std::uint64_t batch = 1;
  bool is_slow = false;
  std::vector<double> loop = {}, last_in_last_out = {};
};

template <class Operation>
series make(std::string provider, std::string name, Operation operation) {
  return {std::move(provider), std::move(name),
          [operation](std::uint64_t count) {
            for (std::uint64_t i = 0; i < count; ++i) operation();
          },
          [operation](std::uint64_t count, shared_memory::stamp* stamps) {
            for (std::uint64_t i = 0; i < count; ++i) {
              stamps[i].begin = platform::now_ns();
              operation();
              stamps[i].end = platform::now_ns();
            }
          }};
}

template <class Allreduce>
void sum_up(Allreduce* call) {
  static std::uint64_t mine = 1;
  // Asking MPI would be a part of the time.
  static const auto expected = static_cast<std::uint64_t>(all_ranks());
  std::uint64_t all = 0;
  call(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (all != expected) throw std::runtime_error("MPI_Allreduce has a wrong sum");
}

std::vector<series> all_series(shared_memory& memory, const std::string& family,
                               bool is_preloaded) {
  std::vector<series> all;
  auto* const barrier = own<int(MPI_Comm)>("PMPI_Barrier");
  auto* const allreduce =
      own<int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm)>("PMPI_Allreduce");
  all.push_back(make(family, "MPI_Barrier", [=] { barrier(MPI_COMM_WORLD); }));
  all.push_back(make(family, "MPI_Allreduce", [=] { sum_up(allreduce); }));
  if (is_preloaded) {
    all.push_back(make("tutti", "MPI_Barrier", [] { MPI_Barrier(MPI_COMM_WORLD); }));
    all.push_back(make("tutti", "MPI_Allreduce", [] { sum_up(MPI_Allreduce); }));
  }
  all.push_back(make("tutti", "ticket", [&memory] { memory.meet(); }));
  return all;
}

// A batch has at least as many: a single call of an MPI that spins takes microseconds or
// milliseconds, depending on who has a CPU just then.
constexpr std::uint64_t least_batch = 8;
// The times of each operation are a noticeable part of a faster one.
constexpr double slow_ns = 50e3;

// Operations that are not timed: where the MPI spins, processes leave its barrier milliseconds
// apart.
void warm_up(const series& one, std::uint64_t count, shared_memory& memory) {
  memory.gather();
  one.run(count / 8);
}

// Runs `work` and returns rank 0's mean time of `count` operations, on all ranks.
template <class Work>
double mean_ns(std::uint64_t count, shared_memory& memory, Work work) {
  const std::uint64_t start = platform::now_ns();
  work();
  return memory.from_rank_0(static_cast<double>(platform::now_ns() - start) /
                            static_cast<double>(count));
}

double loop_ns(const series& one, std::uint64_t count, shared_memory& memory) {
  warm_up(one, count, memory);
  return mean_ns(count, memory, [&] { one.run(count); });
}

// The mean over the operations of the time from the last rank's call to the last rank's return.
double last_in_last_out_ns(std::uint64_t count, shared_memory& memory) {
  memory.gather();
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t last_begin = 0, last_end = 0;
    for (int rank = 0; rank < all_ranks(); ++rank) {
      const shared_memory::stamp& at = memory.stamps(rank)[i];
      last_begin = std::max(last_begin, at.begin);
      last_end = std::max(last_end, at.end);
    }
    sum += static_cast<double>(last_end - last_begin);
  }
  // Nobody overwrites the times before all have read them.
  memory.gather();
  return sum / static_cast<double>(count);
}

void calibrate(series& one, double batch_ns, shared_memory& memory) {
  // The waits of tutti learn what a yield achieves here.
  constexpr std::uint64_t operations_to_learn = 256;
  if (one.provider == "tutti") one.run(operations_to_learn);
  for (std::uint64_t count = least_batch;; count *= 4) {
    const double each = loop_ns(one, count, memory);
    if (each * static_cast<double>(count) < batch_ns / 4) continue;
    one.batch = std::max(least_batch, static_cast<std::uint64_t>(batch_ns / each));
    one.is_slow = each > slow_ns;
    return;
  }
}

void take_sample(series& one, shared_memory& memory) {
  if (!one.is_slow) one.loop.push_back(loop_ns(one, one.batch, memory));
  const std::uint64_t count = std::min(one.batch, shared_memory::most_stamps);
  warm_up(one, count, memory);
  const double mean =
      mean_ns(count, memory, [&] { one.run_with_stamps(count, memory.stamps(my_rank())); });
  if (one.is_slow) one.loop.push_back(mean);
  one.last_in_last_out.push_back(last_in_last_out_ns(count, memory));
}

void measure(std::vector<series>& all, const request& asked, shared_memory& memory) {
  for (series& one : all) calibrate(one, asked.batch_ms * 1e6, memory);
  take_turns(all.size(), asked.rounds, [&](std::size_t at) { take_sample(all[at], memory); });
}

void print(const series& one, const char* family, const char* metric,
           const std::vector<double>& samples) {
  cli::json line = line_of_processes("mpi_preload", one, family);
  line["metric"] = metric;
  add_summary(line, samples);
  line["values"] = samples;
  fmt::print("{}", cli::result_line(line));
}

void run(const request& asked) {
  const char* const family = mpi::calls_of_mpi_h().family;
  shared_memory memory;
  const bool is_preloaded = dlsym(RTLD_DEFAULT, "PMPI_Barrier") !=
                            reinterpret_cast<void*>(own<int(MPI_Comm)>("PMPI_Barrier"));
  auto all = all_series(memory, family, is_preloaded);
  measure(all, asked, memory);
  if (my_rank() != 0) return;
  cli::json machine = describe_machine();
  machine["mpi"] = family;
  fmt::print("{}\n", machine.dump());
  for (const series& one : all) {
    print(one, family, "loop", one.loop);
    print(one, family, "last_in_last_out", one.last_in_last_out);
  }
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) {
  using namespace tutti;
  bench::request asked;
  bench::mpi_program program(
      "Small collective calls of the preload, of the MPI, and a ticket barrier",
      "tutti-bench-mpi-preload", asked.rounds, asked.batch_ms);
  return program.run(argc, argv, [&] {
    bench::run(asked);
    return cli::success;
  });
}
