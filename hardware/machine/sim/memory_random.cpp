// SPDX-License-Identifier: Apache-2.0
// Random accesses of all cores to few lines, against a memory that is a plain array: an access
// takes effect in the cycle in which it ends, so that every load must return what the last write
// before it left, and every atomic operation the value before it. A StoreConditional may succeed
// only if no other core has written the word since its LoadReserved, and must at the second try if
// it follows within the cycles for which the line is held. Accesses outside the memory must fault.
// Now and then a reset interrupts everything.

#include <array>
#include <unordered_map>

#include "hardware/machine/sim/memory_accesses.hpp"

namespace {

using namespace tutti::rtl;

std::uint32_t modified(op what, std::uint32_t old, std::uint32_t operand) {
  const auto is = static_cast<std::int32_t>(old), with = static_cast<std::int32_t>(operand);
  switch (what) {
    case op::add: return old + operand;
    case op::exclusive_or: return old ^ operand;
    case op::bit_and: return old & operand;
    case op::bit_or: return old | operand;
    case op::min: return is < with ? old : operand;
    case op::max: return is < with ? operand : old;
    case op::minu: return old < operand ? old : operand;
    case op::maxu: return old < operand ? operand : old;
    default: return operand;
  }
}

// What a core does between LoadReserved and StoreConditional.
struct pair {
  bool open = false;          // a LoadReserved has ended, its StoreConditional has not
  bool prompt = false;        // nothing else comes between
  bool disturbed = false;     // another core has written the word
  std::uint32_t address = 0;  // of the LoadReserved
  unsigned failures = 0;      // prompt StoreConditionals that failed in a row
};

class tester {
 public:
  tester(testbench& bench, std::uint64_t seed) : bench_(bench), ports_(bench), random_(seed) {}

  std::string run(std::uint64_t cycles) {
    while (bench_.cycle() < cycles) {
      choose();
      const std::uint64_t until = bench_.cycle() + 500 + random_() % 4000;
      while (bench_.cycle() < until)
        if (std::string wrong = cycle(true); !wrong.empty()) return wrong;
      if (random_() % 8 == 0) {
        reset();
      } else {
        // What all cores have begun ends, and then each word has its value in every cache.
        while (any_busy())
          if (std::string wrong = cycle(false); !wrong.empty()) return wrong;
        if (std::string wrong = look_at_all(); !wrong.empty()) return wrong;
      }
    }
    std::printf(
        "{\"accesses\": %llu, \"conditionals\": %llu, \"succeeded\": %llu, \"resets\": %llu}\n",
        static_cast<unsigned long long>(accesses_), static_cast<unsigned long long>(conditionals_),
        static_cast<unsigned long long>(succeeded_), static_cast<unsigned long long>(resets_));
    return {};
  }

 private:
  // Lines of the same sets and others; how often who pauses, or at what beat all begin together;
  // which operations.
  void choose() {
    lines_.clear();
    const unsigned count = 1 + random_() % (random_() % 4 == 0 ? 24 : 6);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned all = MEMORY_BYTES / LINE_BYTES;
      const unsigned apart = random_() % 2 == 0 ? CACHE_BYTES / WAYS / LINE_BYTES : 1;
      lines_.push_back(random_() % 8 * apart % all);
    }
    pause_ = random_() % 2 == 0 ? 0 : random_() % 4 != 0 ? 8 : 200;
    beat_ = random_() % 2 == 0 ? 0 : 64 << random_() % 4;
    reserves_ = random_() % 3 == 0 ? 50 : 10;
    reads_ = random_() % 3 == 0 ? 95 : random_() % 2 == 0 ? 70 : 20;
  }

  bool any_busy() const {
    for (unsigned c = 0; c < CORES; ++c)
      if (ports_.busy(c)) return true;
    return false;
  }

  data_access next(unsigned core) {
    pair& p = pairs_[core];
    const std::uint32_t line = lines_[random_() % lines_.size()];
    const std::uint32_t words = LINE_BYTES / 4 < 3 ? LINE_BYTES / 4 : 3;
    data_access a;
    a.address = memory_base + line * LINE_BYTES + 4 * static_cast<std::uint32_t>(random_() % words);
    a.data = static_cast<std::uint32_t>(random_() % 4 == 0 ? random_() % 4 : random_());
    if (p.open && (p.prompt || random_() % 2 == 0)) {
      a.what = op::store_conditional;
      a.address = random_() % 8 == 0 && !p.prompt ? a.address : p.address;
      return a;
    }
    if (random_() % 200 == 0) {
      a.what = static_cast<op>(random_() % 13);
      a.address = random_() % 2 == 0 ? memory_base - 4 : memory_base + MEMORY_BYTES;
      return a;
    }
    const unsigned draw = random_() % 100;
    if (draw < reserves_) {
      a.what = op::load_reserved;
      // After a failure the core tries again.
      if (p.failures != 0) a.address = p.address;
      p.open = false;
    } else if (draw < reserves_ + reads_ * (100 - reserves_) / 100) {
      a.what = op::load;
    } else if (random_() % 2 == 0) {
      a.what = op::store;
      a.strobe = random_() % 2 == 0 ? 0xf : random_() % 16;
    } else {
      a.what = static_cast<op>(4 + random_() % 9);
    }
    if (a.what != op::load_reserved) p.failures = 0;
    return a;
  }

  std::string cycle(bool more) {
    for (unsigned c = 0; c < CORES; ++c) {
      if (ports_.busy(c)) {
        if (bench_.cycle() - ports_.started(c) > patience) return "no progress:\n" + ports_.waits();
        continue;
      }
      if (!more || bench_.cycle() < resume_[c]) continue;
      ports_.begin(c, next(c));
    }
    std::string wrong;
    ports_.step([&](unsigned core, const data_access& a, const answer& got) {
      std::string said = check(core, a, got);
      if (!said.empty() && wrong.empty())
        wrong = "core " + std::to_string(core) + ", cycle " + std::to_string(bench_.cycle()) +
                ", operation " + std::to_string(static_cast<unsigned>(a.what)) + ": " + said;
    });
    return wrong;
  }

  std::string check(unsigned core, const data_access& a, const answer& got) {
    pair& p = pairs_[core];
    ++accesses_;
    const bool between = a.what == op::load_reserved || (p.open && p.prompt);
    const unsigned longest = between ? 30 : pause_;
    resume_[core] = bench_.cycle() + 1 + (longest == 0 ? 0 : random_() % longest);
    if (beat_ != 0 && !between) resume_[core] += beat_ - resume_[core] % beat_;
    const bool outside = a.address - memory_base >= MEMORY_BYTES;
    if (got.fault != outside) return outside ? "the access does not fault" : "the access faults";
    if (outside) {
      // It ends the hold.
      if (p.open) p.prompt = false;
      return {};
    }
    const bool writes = a.what != op::load && a.what != op::load_reserved &&
                        (a.what != op::store_conditional || got.data == 0);
    if (a.what != op::store_conditional && a.what != op::store) {
      const auto is = memory_.find(a.address);
      if (is != memory_.end() && is->second != got.data)
        return "word " + std::to_string(a.address - memory_base) + " is " +
               std::to_string(got.data) + ", and was last written as " + std::to_string(is->second);
      memory_[a.address] = got.data;
    }
    if (a.what == op::store_conditional) {
      ++conditionals_;
      if (got.data > 1) return "a StoreConditional answers neither 0 nor 1";
      if (got.data == 0) {
        ++succeeded_;
        if (!p.open) return "a StoreConditional succeeds without LoadReserved";
        if (a.address / LINE_BYTES != p.address / LINE_BYTES)
          return "a StoreConditional succeeds at another line";
        if (p.disturbed && a.address == p.address)
          return "a StoreConditional succeeds although the word has been written";
        p.failures = 0;
      } else if (p.open && p.prompt) {
        if (++p.failures > 1) return "a prompt StoreConditional fails again";
      } else {
        p.failures = 0;
      }
      p.open = false;
    }
    if (a.what == op::load_reserved)
      p = {true, random_() % 3 != 0, false, a.address, p.failures};
    else if (a.what != op::store_conditional && p.open)
      p.prompt = false;
    if (!writes) return {};
    if (a.what == op::store) {
      const auto is = memory_.find(a.address);
      if (is == memory_.end() && a.strobe != 0xf) return {};
      std::uint32_t& word = memory_[a.address];
      for (unsigned b = 0; b < 4; ++b)
        if ((a.strobe >> b & 1) != 0) word = (word & ~(0xffu << 8 * b)) | (a.data & 0xffu << 8 * b);
    } else {
      memory_[a.address] =
          a.what == op::store_conditional ? a.data : modified(a.what, got.data, a.data);
    }
    for (unsigned c = 0; c < CORES; ++c)
      if (c != core && pairs_[c].open && pairs_[c].address == a.address) pairs_[c].disturbed = true;
    return {};
  }

  // Each word as a core that was drawn for it reads it.
  std::string look_at_all() {
    const auto expected = memory_;
    // What the cores have reserved is not held that long.
    for (pair& p : pairs_) p.prompt = false;
    for (const auto& [address, value] : expected) {
      const unsigned core = random_() % CORES;
      const auto got = ports_.alone(core, {op::load, address, 0, 0xf}, patience);
      if (!got) return "no progress:\n" + ports_.waits();
      if (got->data != value) return "word " + std::to_string(address - memory_base) + " is lost";
      pairs_[core].failures = 0;
    }
    return {};
  }

  // What the caches had is lost: the words are what is read next.
  void reset() {
    ++resets_;
    ports_.forget();
    bench_.reset(1 + random_() % 3);
    memory_.clear();
    pairs_ = {};
    resume_ = {};
  }

  // Far more than all cores' accesses to one line need.
  static constexpr unsigned patience = 20'000 + CORES * 10'000;
  testbench& bench_;
  access_ports ports_;
  std::mt19937_64 random_;
  std::unordered_map<std::uint32_t, std::uint32_t> memory_;
  std::array<pair, CORES> pairs_{};
  std::array<std::uint64_t, CORES> resume_{};
  std::vector<std::uint32_t> lines_;
  unsigned pause_ = 0, beat_ = 0, reserves_ = 0, reads_ = 0;
  std::uint64_t accesses_ = 0, conditionals_ = 0, succeeded_ = 0, resets_ = 0;
};

std::string run(testbench& bench, const arguments& with) {
  return tester(bench, with.seed).run(with.cycles);
}

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
