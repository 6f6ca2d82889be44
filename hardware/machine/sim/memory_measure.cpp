// SPDX-License-Identifier: Apache-2.0
// What an access costs, as JSON lines: hits, lines from memory and from other cores in the same and
// in another socket, writes to a line that others read, words on which many cores work, reserved
// lines that others want, and mixed accesses of all cores.

#include <random>

#include "hardware/machine/sim/memory_accesses.hpp"

namespace {

using namespace tutti::rtl;

constexpr unsigned tiles = CORES / SOCKETS;
// The sets of a cache of the default size and ways.
constexpr unsigned sets = 8192 / LINE_BYTES / 2;

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
    if (tiles > 1) holds();
    mixed("lines that all use", 4, 1);
    mixed("lines of a set", 5, sets);
    mixed("lines that fill the caches", 160, 1);
    return {};
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + "\n" + ports_.waits());
  }

  // The word of a line that nobody has used, with its home in the socket.
  std::uint32_t fresh(unsigned socket) {
    do ++line_;
    while (home_of(line_) % SOCKETS != socket);
    return memory_base + line_ * LINE_BYTES;
  }

  std::uint64_t cost(unsigned core, op what, std::uint32_t address, std::uint32_t data = 1) {
    const auto got = ports_.alone(core, {what, address, data, 0xf});
    if (!got) fail("an access does not end");
    // What it leaves behind, Done and lines on their way home, has its time.
    for (unsigned i = 0; i < 1000; ++i) ports_.step([](auto&&...) {});
    return got->cycles();
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
    if (waiting != 0) fail("a reader does not see the word");
    std::printf(
        "{\"access\": \"store to a word that others read in a loop\", \"readers\": %u, "
        "\"store\": %llu, \"all_have_seen\": %llu}\n",
        n - 1, static_cast<unsigned long long>(wrote - before - 5000 + 1),
        static_cast<unsigned long long>(seen - before - 5000 + 1));
  }

  // Core 0 has reserved a line, and core 1 stores to it: how long the store waits for what core 0
  // does, and whether core 0's StoreConditional succeeds afterwards.
  void holds() {
    const auto nothing = [](unsigned, std::uint32_t) { return std::optional<data_access>(); };
    const auto again = [](unsigned, std::uint32_t at) {
      return std::optional<data_access>({op::load_reserved, at, 0, 0xf});
    };
    const auto once = [](data_access a, unsigned when) {
      return [=](unsigned cycle, std::uint32_t at) {
        data_access now = a;
        if (now.address == 0) now.address = at;
        return cycle == when ? std::optional<data_access>(now) : std::nullopt;
      };
    };
    const std::uint32_t elsewhere = fresh(0);
    cost(0, op::store, elsewhere);
    held("rests", 0, nothing);
    held("rests, a while later", 40, nothing);
    held("rests, after the hold", 90, nothing);
    held("repeats LoadReserved", 0, again);
    held("repeats LoadReserved, a while later", 300, again);
    held("repeats LoadReserved once", 20, once({op::load_reserved, 0, 0, 0xf}, 10));
    held("repeats LoadReserved after the hold", 110, once({op::load_reserved, 0, 0, 0xf}, 100));
    held("reserves another line", 20, once({op::load_reserved, elsewhere, 0, 0xf}, 10));
    held("reads the line", 20, once({op::load, 0, 0, 0xf}, 10));
    held("reads another line", 20, once({op::load, elsewhere, 0, 0xf}, 10));
    held("reads outside the memory", 20, once({op::load, memory_base - 4, 0, 0xf}, 10));
    held("reserves outside the memory", 20, once({op::load_reserved, memory_base - 4, 0, 0xf}, 10));
    held("adds to the line", 20, once({op::add, 0, 1, 0xf}, 10));
    held("writes another line by StoreConditional", 20,
         once({op::store_conditional, elsewhere, 0, 0xf}, 10));
  }

  template <class Next>
  void held(const char* what, unsigned after, Next next) {
    const std::uint32_t at = fresh(0);
    if (!ports_.alone(0, {op::load_reserved, at, 0, 0xf})) fail("an access does not end");
    std::uint64_t took = 0;
    for (unsigned i = 0; (took == 0 || ports_.busy(0)) && i < 10'000; ++i) {
      if (i == after) ports_.begin(1, {op::store, at, 1, 0xf});
      if (!ports_.busy(0) && took == 0)
        if (const auto a = next(i, at)) ports_.begin(0, *a);
      ports_.step([&](unsigned core, const data_access&, const answer& got) {
        if (core == 1) took = got.cycles();
      });
    }
    if (took == 0) fail("a store to a reserved line does not end");
    const auto conditional = ports_.alone(0, {op::store_conditional, at, 2, 0xf});
    if (!conditional) fail("an access does not end");
    cost(0, op::load, at);
    std::printf(
        "{\"access\": \"store to a line that another core has reserved\", \"which\": \"%s\", "
        "\"cycles\": %llu, \"conditional\": %u}\n",
        what, static_cast<unsigned long long>(took), conditional->data);
  }

  // All cores make random accesses, as fast as they can, to `count` lines that are `apart`.
  void mixed(const char* where, unsigned count, unsigned apart) {
    constexpr unsigned each = 400;
    std::mt19937_64 random(1);
    std::vector<unsigned> left(CORES, each);
    std::vector<std::uint32_t> reserved(CORES, 0);
    unsigned all = CORES * each, succeeded = 0;
    const std::uint32_t first = ++line_;
    line_ += count * apart;
    const std::uint64_t before = bench_.cycle();
    std::uint64_t ended = before;
    while (all != 0 && bench_.cycle() - before < 10'000'000) {
      for (unsigned c = 0; c < CORES; ++c) {
        if (ports_.busy(c) || left[c] == 0) continue;
        const std::uint64_t r = random();
        const std::uint32_t line = first + static_cast<std::uint32_t>(r >> 32) % count * apart;
        data_access a{op::load, memory_base + line * LINE_BYTES + 4 * (r >> 8 & 7), 1, 0xf};
        if (reserved[c] != 0)
          a = {op::store_conditional, reserved[c], 1, 0xf};
        else if (r % 8 < 2)
          a.what = op::store;
        else if (r % 8 == 2)
          a.what = op::add;
        else if (r % 8 == 3)
          a.what = op::load_reserved;
        ports_.begin(c, a);
      }
      ports_.step([&](unsigned c, const data_access& a, const answer& got) {
        reserved[c] = a.what == op::load_reserved ? a.address : 0;
        if (a.what == op::store_conditional && got.data == 0) ++succeeded;
        --left[c];
        --all;
        ended = got.ended;
      });
    }
    if (all != 0) fail("mixed accesses do not end");
    std::printf(
        "{\"access\": \"mixed accesses of all cores\", \"where\": \"%s\", \"cycles_each\": %.2f, "
        "\"conditionals_succeeded\": %u}\n",
        where, static_cast<double>(ended - before + 1) / each, succeeded);
  }

  void finish(std::uint32_t at, std::uint32_t sum) {
    const auto got = ports_.alone(CORES - 1, {op::load, at, 0, 0xf});
    if (!got) fail("an access does not end");
    if (got->data != sum)
      fail("the sum is " + std::to_string(got->data) + ", not " + std::to_string(sum));
  }

  testbench& bench_;
  access_ports ports_;
  std::uint32_t line_ = 0;
};

std::string run(testbench& bench, const arguments&) {
  try {
    return meter(bench).run();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
