// SPDX-License-Identifier: Apache-2.0
// The processor against reference.hpp: random programs, with interrupts, faults, extension
// instructions and a data port of random latency. Compares everything that each instruction and
// each trap does, and in which cycle; checks the protocol of both ports; and demands that every
// instruction and every cause has occurred.

#include <map>
#include <random>
#include <sstream>
#include <string>

#include "hardware/flow/testbench.hpp"
#include "hardware/machine/sim/reference.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;
using machine::access;
using machine::extension;
using machine::reference;
using machine::retirement;

constexpr std::uint32_t ram = 0x80000000u, ram_bytes = 0x1000;
// The part of the RAM that user mode may not access.
constexpr std::uint32_t kernel_bytes = 0x200;
constexpr std::uint32_t hart = 0x2a;

// ---- random programs ----

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Random numbers that depend on nothing but the seed, so that each word of a program can be made
// when it is fetched.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint32_t bits() { return static_cast<std::uint32_t>((state_ = mix(state_)) >> 32); }
  // 0 to n - 1.
  std::uint32_t below(std::uint32_t n) { return bits() % n; }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

std::uint32_t r_type(unsigned f7, unsigned rs2, unsigned rs1, unsigned f3, unsigned rd,
                     unsigned op) {
  return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
std::uint32_t i_type(std::uint32_t imm, unsigned rs1, unsigned f3, unsigned rd, unsigned op) {
  return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
std::uint32_t s_type(std::uint32_t imm, unsigned rs2, unsigned rs1, unsigned f3, unsigned op) {
  return (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm & 31) << 7 | op;
}
std::uint32_t b_type(std::uint32_t imm, unsigned rs2, unsigned rs1, unsigned f3) {
  return (imm >> 12 & 1) << 31 | (imm >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
         (imm >> 1 & 15) << 8 | (imm >> 11 & 1) << 7 | 0x63;
}
std::uint32_t jal(std::uint32_t imm, unsigned rd) {
  return (imm >> 20 & 1) << 31 | (imm >> 1 & 0x3ff) << 21 | (imm >> 11 & 1) << 20 |
         (imm >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}

// x8 to x11 hold addresses of the RAM, x12 and x13 of the program.
//
// A third of the programs stay in user mode: their trap handler returns behind the instruction, and
// they read only user mode's counters. The handler of the others is a random place.
constexpr unsigned first_pointer = 8, first_code = 12, last_reserved = 13;

class program {
 public:
  explicit program(std::uint64_t seed) : seed_(seed), user_(seed % 3 == 0) {}

  std::uint32_t word(std::uint32_t address) const {
    dice d(seed_ ^ std::uint64_t{address} << 20);
    const std::uint32_t index = address / 4;
    // At first every register receives a value, those of the handlers of calls too, and the CSRs,
    // whose values after the reset are read.
    if (index < loads) return load(index, 0);
    if (index == loads) return i_type(mrcall, 4, 6, 1, 0x73);
    if (index < 2 * loads + 1) return load(index - loads - 1, 64);
    if (index == 2 * loads + 1) {
      // Seldom is a mode chosen in which the program never is.
      const unsigned mode = d.one_in(6) ? d.below(2) : user_ ? 0 : 1;
      return i_type(mrcall, 2 * mode + (d.one_in(8) ? 0 : 1), 5, 0, 0x73);
    }
    if (index < begin) {
      const unsigned csr = setup[index - 2 * loads - 2];
      if (csr == 0x342 || csr == 0x343 || csr >> 4 == 0x80) return i_type(csr, 0, 2, 1, 0x73);
      // mrcentry, mtvec and mepc from pointers to the program.
      const unsigned from = csr == 0x305                   ? 12
                            : csr == 0x341 || csr == 0x7c1 ? 13
                                                           : 14 + d.below(18);
      return i_type(csr, from, 1, 1, 0x73);
    }
    if (user_) {
      static constexpr std::uint32_t handler[] = {0x341022f3,  // csrr t0, mepc
                                                  0x00428293,  // addi t0, t0, 4
                                                  0x34129073,  // csrw mepc, t0
                                                  mret};
      if (index == begin) return mret;
      if (address >= handler_at && address < handler_at + sizeof handler)
        return handler[(address - handler_at) / 4];
    }
    return instruction(d);
  }

 private:
  static constexpr std::uint32_t handler_at = 0x280, mret = 0x30200073, uret = 0x00200073;
  static constexpr std::uint32_t mrcall = 0x7c0;
  static constexpr unsigned setup[] = {0x7c1, 0x305, 0x342, 0x343, 0x800,
                                       0x801, 0x304, 0x300, 0x341, 0x340};
  // Instructions that load all registers, and those before the random ones.
  static constexpr std::uint32_t loads = 2 * 31, begin = 2 * loads + 2 + std::size(setup);
  static_assert(4 * begin + 4 <= handler_at);

  // An instruction of those that load a value into each register.
  std::uint32_t load(std::uint32_t index, unsigned salt) const {
    const unsigned x = 1 + index / 2;
    dice of_register(seed_ ^ (x + salt));
    const bool is_shared = (x >= 2 && x <= 4) || x == 8 || x == 9 || (x >= 18 && x <= 27);
    if (is_shared) of_register = dice(seed_ ^ x);
    const std::uint32_t value = user_ && x == first_code ? handler_at : initial(x, of_register);
    const std::uint32_t low = value & 0xfff;
    return index % 2 == 0
               ? ((value - (low << 20 >> 20) + (low & 0x800 ? 0x1000 : 0)) & 0xfffff000u) | x << 7 |
                     0x37
               : i_type(low, x, 0, x, 0x13);
  }

  static std::uint32_t initial(unsigned x, dice& d) {
    if (x >= first_pointer && x < first_code)
      return ram + (d.below(ram_bytes) & ~3u) + (d.one_in(8) ? d.below(4) : 0);
    if (x == first_code || x == last_reserved) return (0x300 + d.below(0x2000)) & ~3u;
    static constexpr std::uint32_t special[] = {0, 1,  0xffffffffu, 0x80000000u, 0x7fffffffu,
                                                2, 31, 0x1888,      0x88};
    return d.one_in(2) ? special[d.below(std::size(special))] : d.bits();
  }

  static unsigned source(dice& d) { return d.below(32); }
  static unsigned target(dice& d) {
    const unsigned rd = d.below(32);
    return rd >= first_pointer && rd <= last_reserved && !d.one_in(8) ? d.below(8) : rd;
  }
  static unsigned pointer(dice& d) { return d.one_in(12) ? source(d) : first_pointer + d.below(4); }
  static std::uint32_t near(dice& d) { return d.below(64) * (d.one_in(6) ? 1 : 4) - 128; }
  // A distance to another instruction, forward more often than back.
  static std::uint32_t distance(dice& d) {
    return (d.below(30) * (d.one_in(10) ? 2 : 4)) - (d.one_in(4) ? 60 : 0);
  }

  std::uint32_t instruction(dice& d) const {
    const std::uint32_t insn = valid(d);
    if (d.one_in(30)) return insn ^ 1u << d.below(32);
    if (d.one_in(60)) return d.bits();
    return insn;
  }

  std::uint32_t valid(dice& d) const {
    switch (d.below(20)) {
      case 0:
      case 1:
      case 2: return i_type(d.bits() & 0xfff, source(d), d.below(8), target(d), 0x13);
      case 3: {
        const unsigned f3 = d.one_in(2) ? 1 : 5;
        return r_type(f3 == 5 && d.one_in(2) ? 0x20 : 0, d.below(32), source(d), f3, target(d),
                      0x13);
      }
      case 4:
      case 5: {
        const unsigned f3 = d.below(8);
        const bool other = (f3 == 0 || f3 == 5) && d.one_in(2);
        return r_type(other ? 0x20 : 0, source(d), source(d), f3, target(d), 0x33);
      }
      case 6:
      case 7: return r_type(1, source(d), source(d), d.below(8), target(d), 0x33);
      case 8:
      case 9: {
        static constexpr unsigned sizes[] = {0, 1, 2, 4, 5};
        return i_type(near(d) & 0xfff, pointer(d), sizes[d.below(5)], target(d), 0x03);
      }
      case 10: return s_type(near(d), source(d), pointer(d), d.below(3), 0x23);
      case 11:
      case 12: {
        static constexpr unsigned ops[] = {0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28};
        const unsigned op = ops[d.below(11)];
        return r_type(op << 2 | d.below(4), op == 2 ? 0 : source(d), pointer(d), 2, target(d),
                      0x2f);
      }
      case 13: {
        static constexpr unsigned conditions[] = {0, 1, 4, 5, 6, 7};
        return b_type(distance(d), source(d), source(d), conditions[d.below(6)]);
      }
      case 14:
        if (d.one_in(2)) return jal(distance(d), target(d));
        return i_type(d.below(16) * (d.one_in(4) ? 1 : 4), first_code + d.below(2), 0, target(d),
                      0x67);
      case 15:
      case 16: return control(d);
      case 17: {
        switch (d.below(12)) {
          case 0: return 0x00000073;
          case 1: return 0x00100073;
          case 2: return 0x10500073;
          case 3: return d.bits() << 15 | 0x0f;
          case 4: return d.bits() << 15 | 0x100f;
          case 5:
          case 6: return uret;
          default:
            if (user_ && !d.one_in(20)) return 0x0000000f;
            return mret;
        }
      }
      case 18: return (d.bits() & ~0x7fu) | (d.one_in(2) ? 0x0bu : 0x2bu);
      default:
        // auipc makes pointers to the program only if its value is small.
        return (d.one_in(2) ? d.bits() & 0xfffff000u : 0) | target(d) << 7 |
               (d.one_in(2) ? 0x37u : 0x17u);
    }
  }

  std::uint32_t control(dice& d) const {
    static constexpr unsigned numbers[] = {
        0x300, 0x300, 0x300, 0x301, 0x304, 0x304, 0x305, 0x306, 0x320, 0x340, 0x341, 0x342, 0x343,
        0x344, 0xb00, 0xb80, 0xb02, 0xb82, 0xc00, 0xc80, 0xc02, 0xc82, 0xf11, 0xf12, 0xf13, 0xf14,
        0xb03, 0xb9f, 0x323, 0x33f, 0xc01, 0xb01, 0x7c0, 0x7c0, 0x7c1, 0x800, 0x800, 0x801};
    static constexpr unsigned counters[] = {0xc00, 0xc80, 0xc02, 0xc82};
    if (user_ && d.one_in(4)) return i_type(0x800, d.below(4), 5 + d.below(3), target(d), 0x73);
    if (user_ && !d.one_in(20)) return i_type(counters[d.below(4)], 0, 2, target(d), 0x73);
    unsigned number = d.one_in(16) ? d.below(4096) : numbers[d.below(std::size(numbers))];
    unsigned f3 = 1 + d.below(3) + (d.one_in(2) ? 4 : 0);
    unsigned from = d.one_in(4) ? 0 : source(d);
    // Seldom destroy the vector: mostly write pointers to the program.
    if (number == 0x305 || number == 0x341 || number == 0x7c1 || number == 0x801) {
      if (!d.one_in(10)) return i_type(number, first_code + d.below(2), 1, target(d), 0x73);
    }
    return i_type(number, from, f3, target(d), 0x73);
  }

  std::uint64_t seed_;
  bool user_;
};

// ---- the memory ----

class memory final : public machine::data_memory {
 public:
  explicit memory(std::uint64_t seed) : program_(seed) {
    for (std::uint32_t i = 0; i < ram_bytes / 4; ++i) words_[i] = dice(seed + i).bits();
  }
  // Whether the next sc stores.
  bool sc_stores = true;
  std::uint64_t accesses = 0;

  std::optional<std::uint32_t> execute(access op, std::uint32_t address, std::uint32_t lanes,
                                       unsigned strobe, bool machine_mode) override {
    ++accesses;
    if (address < IMAGE_BYTES) {
      if (op != access::load) return {};
      return program_.word(address & ~3u);
    }
    if (address < ram || address >= ram + ram_bytes) return {};
    if (address < ram + kernel_bytes && !machine_mode) return {};
    std::uint32_t& word = words_[(address - ram) / 4];
    const std::uint32_t old = word;
    if (op == access::load || op == access::lr) return old;
    if (op == access::sc && !sc_stores) return 1;
    const std::uint32_t made = machine::combine(op, old, lanes);
    for (unsigned i = 0; i < 4; ++i)
      if (strobe >> i & 1) word = (word & ~(0xffu << 8 * i)) | (made & 0xffu << 8 * i);
    return op == access::sc ? 0 : old;
  }
  bool operator==(const memory& other) const { return words_ == other.words_; }
  const program& code() const { return program_; }

 private:
  program program_;
  std::array<std::uint32_t, ram_bytes / 4> words_{};
};

// ---- the comparison ----

std::string text(const retirement& r) {
  std::ostringstream out;
  out << std::hex << "pc " << r.pc << " insn " << r.insn << (r.machine_mode ? " M" : " U");
  if (r.trap)
    out << (r.is_interrupt ? " interrupt " : " trap ") << std::dec << r.cause << " value "
        << std::hex << r.tval;
  else if (r.rd != 0)
    out << " x" << std::dec << r.rd << " = " << std::hex << r.result;
  return out.str();
}

// What a run must have seen: a name for each instruction and each cause.
std::string name_of(const retirement& r) {
  const std::string mode = r.machine_mode ? "M" : "U";
  if (r.trap) return mode + (r.is_interrupt ? " interrupt " : " trap ") + std::to_string(r.cause);
  const unsigned op = r.insn & 0x7f, f3 = r.insn >> 12 & 7;
  std::string name = "insn " + std::to_string(op);
  if (op != 0x37 && op != 0x17 && op != 0x6f && op != 0x0b && op != 0x2b)
    name += "." + std::to_string(f3);
  if (op == 0x33 || (op == 0x13 && (f3 == 1 || f3 == 5)))
    name += "." + std::to_string(r.insn >> 25);
  if (op == 0x2f) name += "." + std::to_string(r.insn >> 27);
  if (op == 0x73 && f3 == 0) name += "." + std::to_string(r.insn >> 20);
  return name;
}
// All names: 1 lui, auipc, jal, jalr, 6 branches, 5 loads, 3 stores, 11 atomics, 9 with an
// immediate, 10 + 8 with registers, 2 fences, 6 of CSRs, mret, uret, wfi, 2 extensions = 69.
constexpr std::size_t instructions = 1 + 1 + 1 + 1 + 6 + 5 + 3 + 11 + 9 + 18 + 2 + 6 + 3 + 2;

class comparison {
 public:
  explicit comparison(const arguments& with) : with_(with), bench_(with) {}

  std::string all() {
    for (std::uint64_t round = 0; bench_.cycle() < with_.cycles; ++round) {
      const std::string wrong = run(with_.seed * 1'000'003 + round);
      if (!wrong.empty())
        return "round " + std::to_string(round) + ", seed " + std::to_string(with_.seed) + ": " +
               wrong;
    }
    if (with_.cycles < 500'000) return {};
    std::size_t retired = 0;
    for (const auto& [name, count] : seen_) retired += name.starts_with("insn");
    if (retired != instructions)
      return std::to_string(retired) + " kinds of instructions retired, not " +
             std::to_string(instructions);
    for (const char* const mode : {"M ", "U "})
      for (const char* const event :
           {"trap 0", "trap 1", "trap 2", "trap 3", "trap 4", "trap 5", "trap 6", "trap 7",
            "trap 24", "interrupt 3", "interrupt 7", "interrupt 11", "interrupt 25"})
        if (!seen_.contains(std::string(mode) + event))
          return std::string("never seen: ") + mode + event;
    for (const char* const event : {"U trap 8", "M trap 11"})
      if (!seen_.contains(event)) return std::string("never seen: ") + event;
    if (interrupted_extensions_ == 0 || finished_though_interrupted_ == 0)
      return "no interrupt came during an extension instruction";
    if (called_extensions_ == 0 || ended_sleeps_ == 0)
      return "no remote call came during an extension instruction, or during wfi";
    return {};
  }

 private:
  // A program, from reset on, for some hundred instructions.
  std::string run(std::uint64_t seed) {
    dice d(seed);
    model& top = bench_.top();
    memory mine(seed), theirs(seed);
    reference expected(hart, IMAGE_BYTES);
    const std::uint32_t slowest = d.below(3) * 4;
    const std::uint32_t calm = 5 + d.below(100);
    top.hart_i = hart;
    top.fetch_data_i = d.bits();
    quiet(top);
    bench_.reset();

    // The cycle in which the next instruction begins, counted from the reset.
    std::uint64_t begins = 1;
    unsigned pending = 0;
    bool due_at_begin = false;
    // The access or extension instruction that is open: cycles until its answer.
    bool open = false, cancelled = false;
    std::uint32_t left = 0;
    std::uint32_t held_addr = 0, held_data = 0, held_other = 0;
    std::uint64_t accesses = 0;
    extension answer;

    const std::uint64_t length = 200 + d.below(600);
    std::uint64_t retired = 0;
    for (std::uint64_t now = 0; retired < length; ++now) {
      for (const unsigned irq :
           {reference::msip, reference::mtip, reference::meip, reference::call})
        if (d.one_in(calm)) pending ^= irq;
      top.software_irq_i = (pending & reference::msip) != 0;
      top.timer_irq_i = (pending & reference::mtip) != 0;
      top.external_irq_i = (pending & reference::meip) != 0;
      top.call_irq_i = (pending & reference::call) != 0;
      const auto interrupt = expected.interrupt(pending);
      const bool is_due = interrupt || expected.calls(pending);
      if (now == begins) due_at_begin = is_due;
      quiet(top);
      bench_.settle();

      // The ports.
      const bool accesses_now = top.data_valid_o, extends_now = top.ext_valid_o;
      if (accesses_now && extends_now) return "both ports are busy";
      if ((accesses_now || extends_now) && now < begins) return "an access before its instruction";
      if (accesses_now || extends_now) {
        const std::uint64_t request = accesses_now ? 0 : top.ext_insn_o;
        const auto addr = accesses_now
                              ? static_cast<std::uint32_t>(field(top.data_request_o, 36, 32))
                              : top.ext_rs1_o;
        const auto data = accesses_now
                              ? static_cast<std::uint32_t>(field(top.data_request_o, 4, 32))
                              : top.ext_rs2_o;
        const auto other = accesses_now
                               ? static_cast<std::uint32_t>(field(top.data_request_o, 68, 4) << 4 |
                                                            field(top.data_request_o, 0, 4))
                               : static_cast<std::uint32_t>(request);
        if (!open) {
          open = true;
          cancelled = false;
          left = slowest == 0 ? 0 : d.below(slowest + 1);
          if (extends_now) {
            left = d.below(20);
            answer = {.known = !d.one_in(5),
                      .ready = !d.one_in(3),
                      .writes = d.one_in(2),
                      .rd = d.bits()};
            if (!answer.known) left = 0;
          }
        } else if (held_addr != addr || held_data != data || held_other != other) {
          return "a request changes before its answer";
        }
        held_addr = addr;
        held_data = data;
        held_other = other;
        if (extends_now) {
          top.ext_known_i = answer.known;
          if ((top.ext_cancel_o != 0) != is_due)
            return "ext_cancel_o is not whether an interrupt or a call is due";
          // A cancelled instruction is answered soon, either way.
          if (top.ext_cancel_o && !cancelled) {
            cancelled = true;
            left = std::min(left, d.below(3));
            answer.ready = d.one_in(2);
          }
          top.ext_ready_i = left == 0 && answer.ready && answer.known;
          top.ext_refused_i = left == 0 && !answer.ready && answer.known;
          top.ext_write_i = answer.writes;
          top.ext_rd_i = answer.rd;
        } else if (left == 0) {
          theirs.sc_stores = mine.sc_stores = !d.one_in(3);
          const auto word =
              theirs.execute(static_cast<access>(field(top.data_request_o, 68, 4)), addr, data,
                             field(top.data_request_o, 0, 4) & 15, top.machine_mode_o);
          top.data_ready_i = 1;
          top.data_fault_i = !word;
          top.data_rdata_i = word.value_or(d.bits());
          ++accesses;
        }
      } else if (open) {
        return "a request goes away before its answer";
      }
      bench_.settle();
      const std::uint32_t fetch = top.fetch_addr_o;

      // What happened.
      const auto& t = top.trace_o;
      if (field(t, 141, 1) != 0) {
        retirement got;
        got.trap = field(t, 140, 1);
        got.is_interrupt = field(t, 139, 1);
        got.cause = static_cast<unsigned>(field(t, 134, 5));
        got.tval = static_cast<std::uint32_t>(field(t, 102, 32));
        got.machine_mode = field(t, 101, 1);
        got.pc = static_cast<std::uint32_t>(field(t, 69, 32));
        got.insn = static_cast<std::uint32_t>(field(t, 37, 32));
        got.rd = static_cast<unsigned>(field(t, 32, 5));
        got.result = got.rd == 0 ? 0 : static_cast<std::uint32_t>(field(t, 0, 32));
        if (!got.trap) got.cause = got.tval = 0, got.is_interrupt = false;
        if (now < begins) return "an instruction before its time: " + text(got);

        const bool inside = expected.pc() < IMAGE_BYTES;
        const std::uint32_t insn = inside ? mine.code().word(expected.pc()) : got.insn;
        const bool refused_for_interrupt =
            open && extends_now && is_due && answer.known && !answer.ready && !due_at_begin;
        retirement want;
        const std::uint64_t before = mine.accesses;
        if (due_at_begin || refused_for_interrupt) {
          if (due_at_begin && now != begins) return "an interrupt waits: " + text(got);
          want = interrupt ? expected.take_interrupt(*interrupt, insn) : expected.take_call(insn);
          if (refused_for_interrupt) ++(interrupt ? interrupted_extensions_ : called_extensions_);
        } else {
          if (inside && insn == 0x10500073 && !expected.wakes(pending))
            return "wfi ends without an interrupt";
          if (extends_now && cancelled && answer.ready) ++finished_though_interrupted_;
          if (inside && insn == 0x10500073 && now > begins && (pending & reference::call))
            ++ended_sleeps_;
          want = expected.execute(insn, pending, mine, answer);
        }
        if (want.rd == 0) want.result = 0;
        if (got != want) return "got " + text(got) + ", not " + text(want);
        const bool is_call = want.is_interrupt && want.cause == 25;
        if ((top.call_taken_o != 0) != is_call) return "call_taken_o at " + text(got);
        if (is_call) pending &= ~reference::call;
        if (mine.accesses - before != accesses) return "another number of accesses: " + text(got);
        if (accesses != 0 && !(mine == theirs)) return "the memory differs after " + text(got);

        // A jump and a trap take a cycle more, a product 2 cycles, a division 34. Accesses,
        // extension instructions and wfi take what the harness made them take.
        if (!want.trap && (insn & 0x7f) == 0x33 && insn >> 25 == 1) {
          if (now - begins != (insn >> 14 & 1 ? 33u : 1u))
            return std::to_string(now - begins + 1) + " cycles for " + text(got);
        } else if (accesses == 0 && !extends_now && insn != 0x10500073 && now != begins) {
          return std::to_string(now - begins + 1) + " cycles for " + text(got);
        }
        begins = now + 1 + (expected.redirected() ? 1 : 0);
        open = false;
        accesses = 0;
        ++retired;
        ++seen_[name_of(want)];
      } else {
        if (top.call_taken_o) return "call_taken_o without a call";
        if (accesses != 0 || (extends_now && left == 0)) return "an answer without effect";
        if (now >= begins) {
          if (due_at_begin) return "an interrupt is not taken";
          const bool sleeps =
              expected.pc() < IMAGE_BYTES && mine.code().word(expected.pc()) == 0x10500073;
          if (sleeps && expected.wakes(pending)) return "wfi does not end";
          if (sleeps && now > begins + 200) return {};
          if (now > begins + 60 && !sleeps) return "stands still";
        }
      }
      if (open && left != 0) --left;
      bench_.tick();
      expected.tick();
      // Garbage unless the address is in the image.
      top.fetch_data_i = fetch < IMAGE_BYTES ? mine.code().word(fetch & ~3u) : d.bits();
    }
    return {};
  }

  static void quiet(model& top) {
    top.data_ready_i = top.data_fault_i = 0;
    top.ext_known_i = top.ext_ready_i = top.ext_refused_i = top.ext_write_i = 0;
  }

  arguments with_;
  testbench bench_;
  std::map<std::string, std::uint64_t> seen_;
  std::uint64_t interrupted_extensions_ = 0, finished_though_interrupted_ = 0;
  std::uint64_t called_extensions_ = 0, ended_sleeps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return run_harness(argc, argv, [](const arguments& with) { return comparison(with).all(); });
}
