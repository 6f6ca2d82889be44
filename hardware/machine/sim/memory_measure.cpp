// SPDX-License-Identifier: Apache-2.0
// What an access costs, as JSON lines: hits, lines from memory and from other cores in the same and
// in another socket, writes to a line that others read, and words on which many cores work.

#include "hardware/machine/sim/memory_accesses.hpp"

namespace {

using namespace tutti::rtl;

constexpr unsigned tiles = CORES / SOCKETS;

unsigned home_of(std::uint32_t line) {
  unsigned bits = 0;
  while (1u << bits < BANKS) ++bits;
  return (line ^ line >> bits ^ line >> 2 * bits ^ line >> 3 * bits) % BANKS;
}

class meter {
 public:
  explicit meter(testbench& bench) : bench_(bench), ports_(bench) {}

  std::string run() {
    one_access();
    sharers();
    for (unsigned n = 1; n <= CORES; n = n < CORES && 2 * n > CORES ? CORES : 2 * n) {
      together(n);
      increments(n);
      conditional_increments(n);
      if (n > 1) release(n);
    }
    if (wrong_.empty()) return {};
    return wrong_ + "\n" + ports_.waits();
  }

 private:
  // The word of a line that nobody has used, with its home in the socket.
  std::uint32_t fresh(unsigned socket) {
    do ++line_;
    while (home_of(line_) % SOCKETS != socket);
    return memory_base + line_ * LINE_BYTES;
  }

  std::uint64_t cost(unsigned core, op what, std::uint32_t address, std::uint32_t data = 1) {
    const auto got = ports_.alone(core, {what, address, data, 0xf});
    if (!got) wrong_ = "an access does not end";
    // What it leaves behind, Done and lines on their way home, has its time.
    for (unsigned i = 0; i < 1000; ++i) ports_.step([](auto&&...) {});
    return got ? got->cycles() : 0;
  }

  static void print(const char* what, std::uint64_t cycles) {
    std::printf("{\"access\": \"%s\", \"cycles\": %llu}\n", what,
                static_cast<unsigned long long>(cycles));
  }

  void one_access() {
    const std::uint32_t first = fresh(0);
    print("load from memory", cost(0, op::load, first));
    print("load hit", cost(0, op::load, first));
    print("store hit", cost(0, op::store, first));
    print("atomic hit", cost(0, op::add, first));
    if (CORES == 1) return;
    const unsigned other = tiles > 1 ? 1 : tiles;
    if (tiles > 1) {
      print("load of a line written by another core", cost(other, op::load, first));
      print("store to a line shared with it", cost(other, op::store, first));
      print("store to a line written by another core", cost(0, op::store, first));
      print("atomic to a line written by another core", cost(other, op::add, first));
      print("load of a line written by another core, home again", cost(0, op::load, first));
      print("load of a line that two share, from the memory-side cache",
            tiles > 2 ? cost(2, op::load, first) : 0);
    }
    if (SOCKETS == 1) return;
    for (const unsigned home : {0u, 1u}) {
      const std::string where =
          home == 0 ? ", home in the reader's socket" : ", home in the writer's socket";
      const std::uint32_t far = fresh(home);
      if (home == 1) print("load from the memory of another socket", cost(0, op::load, far));
      cost(tiles, op::store, far);
      print(("load of a line written in another socket" + where).c_str(), cost(0, op::load, far));
      cost(tiles, op::store, far);
      print(("store to a line written in another socket" + where).c_str(), cost(0, op::store, far));
    }
  }

  void sharers() {
    for (unsigned n = 1; n < CORES; n = n < CORES - 1 && 2 * n > CORES - 1 ? CORES - 1 : 2 * n) {
      const std::uint32_t at = fresh(0);
      cost(0, op::load, at);
      for (unsigned c = 1; c <= n; ++c) cost(c, op::load, at);
      std::printf(
          "{\"access\": \"store to a line that others share\", \"others\": %u, "
          "\"cycles\": %llu}\n",
          n, static_cast<unsigned long long>(cost(0, op::store, at)));
    }
  }

  // n cores add to one word in the same cycle, once each: the cycles until all have done so.
  void together(unsigned n) {
    const std::uint32_t at = fresh(0);
    cost(0, op::store, at, 0);
    const std::uint64_t before = bench_.cycle();
    std::uint64_t ended = 0;
    unsigned left = n;
    for (unsigned c = 0; c < n; ++c) ports_.begin(c, {op::add, at, 1, 0xf});
    while (left != 0 && bench_.cycle() - before < 1'000'000)
      ports_.step([&](unsigned, const data_access&, const answer& got) {
        --left;
        ended = got.ended;
      });
    finish(at, n);
    std::printf(
        "{\"access\": \"one atomic addition of each core to one word\", \"cores\": %u, "
        "\"cycles\": %llu}\n",
        n, static_cast<unsigned long long>(ended - before + 1));
  }

  // n cores add to one word, `each` times; the mean cycles of one addition of all.
  void increments(unsigned n) {
    constexpr unsigned each = 100;
    const std::uint32_t at = fresh(0);
    std::vector<unsigned> left(n, each);
    const std::uint64_t before = bench_.cycle();
    std::uint64_t ended = before;
    unsigned all = n * each;
    while (all != 0 && bench_.cycle() - before < 10'000'000) {
      for (unsigned c = 0; c < n; ++c)
        if (!ports_.busy(c) && left[c] != 0) ports_.begin(c, {op::add, at, 1, 0xf});
      ports_.step([&](unsigned c, const data_access&, const answer& got) {
        --left[c];
        --all;
        ended = got.ended;
      });
    }
    finish(at, n * each);
    std::printf(
        "{\"access\": \"atomic additions to one word\", \"cores\": %u, "
        "\"cycles_each\": %.1f}\n",
        n, static_cast<double>(ended - before + 1) / (n * each));
  }

  // The same by LoadReserved and StoreConditional, four cycles apart.
  void conditional_increments(unsigned n) {
    constexpr unsigned each = 50;
    const std::uint32_t at = fresh(0);
    std::vector<unsigned> left(n, each);
    std::vector<std::uint64_t> resume(n, 0);
    std::vector<std::int64_t> value(n, -1);
    const std::uint64_t before = bench_.cycle();
    std::uint64_t ended = before, failures = 0;
    unsigned all = n * each;
    while (all != 0 && bench_.cycle() - before < 10'000'000) {
      for (unsigned c = 0; c < n; ++c) {
        if (ports_.busy(c) || left[c] == 0 || bench_.cycle() < resume[c]) continue;
        if (value[c] < 0)
          ports_.begin(c, {op::load_reserved, at, 0, 0xf});
        else
          ports_.begin(c,
                       {op::store_conditional, at, static_cast<std::uint32_t>(value[c] + 1), 0xf});
      }
      ports_.step([&](unsigned c, const data_access& a, const answer& got) {
        resume[c] = bench_.cycle() + 4;
        if (a.what == op::load_reserved) {
          value[c] = got.data;
          return;
        }
        value[c] = -1;
        if (got.data != 0) {
          ++failures;
          return;
        }
        --left[c];
        --all;
        ended = got.ended;
      });
    }
    finish(at, n * each);
    std::printf(
        "{\"access\": \"additions to one word by LoadReserved and StoreConditional\", "
        "\"cores\": %u, \"cycles_each\": %.1f, \"failures\": %llu}\n",
        n, static_cast<double>(ended - before + 1) / (n * each),
        static_cast<unsigned long long>(failures));
  }

  // Core 0 writes a word that n - 1 others read again and again: until all have seen it.
  void release(unsigned n) {
    const std::uint32_t at = fresh(0);
    std::uint64_t wrote = 0, seen = 0;
    unsigned waiting = n - 1;
    const std::uint64_t before = bench_.cycle();
    std::vector<bool> saw(n, false);
    while (waiting != 0 && bench_.cycle() - before < 1'000'000) {
      for (unsigned c = 1; c < n; ++c)
        if (!ports_.busy(c) && !saw[c]) ports_.begin(c, {op::load, at, 0, 0xf});
      if (bench_.cycle() == before + 5000) ports_.begin(0, {op::store, at, 7, 0xf});
      ports_.step([&](unsigned c, const data_access&, const answer& got) {
        if (c == 0) wrote = got.ended;
        if (c != 0 && got.data == 7) {
          saw[c] = true;
          --waiting;
          seen = got.ended;
        }
      });
    }
    if (waiting != 0) wrong_ = "a reader does not see the word";
    std::printf(
        "{\"access\": \"store to a word that others read in a loop\", \"readers\": %u, "
        "\"store\": %llu, \"all_have_seen\": %llu}\n",
        n - 1, static_cast<unsigned long long>(wrote - before - 5000 + 1),
        static_cast<unsigned long long>(seen - before - 5000 + 1));
  }

  void finish(std::uint32_t at, std::uint32_t sum) {
    const auto got = ports_.alone(CORES - 1, {op::load, at, 0, 0xf});
    if (!got)
      wrong_ = "an access does not end";
    else if (got->data != sum)
      wrong_ = "the sum is " + std::to_string(got->data) + ", not " + std::to_string(sum);
  }

  testbench& bench_;
  access_ports ports_;
  std::uint32_t line_ = 0;
  std::string wrong_;
};

std::string run(testbench& bench, const arguments&) { return meter(bench).run(); }

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
