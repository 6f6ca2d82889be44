// SPDX-License-Identifier: Apache-2.0
// A processor in C++, to compare the RTL with: RV32IMA_Zicsr_Zifencei, machine and user mode, one
// instruction at a time. It is written from the RISC-V manuals, and for remote calls from the
// README, not from the RTL.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace tutti::machine {

// What an instruction did: the same as tutti_machine_core_pkg::trace_t.
struct retirement {
  bool trap = false;
  bool is_interrupt = false;
  unsigned cause = 0;
  std::uint32_t tval = 0;
  bool machine_mode = true;
  std::uint32_t pc = 0;
  std::uint32_t insn = 0;
  // The register that was written, 0 if none.
  unsigned rd = 0;
  std::uint32_t result = 0;

  bool operator==(const retirement&) const = default;
};

// Numbered as in tutti_machine_pkg::op_t.
enum class access : std::uint8_t {
  load,
  store,
  lr,
  sc,
  swap,
  add,
  exclusive_or,
  conjunction,
  disjunction,
  min,
  max,
  minu,
  maxu
};

// The memory behind the processor's data port.
class data_memory {
 public:
  virtual ~data_memory() = default;
  // Executes an access of an aligned word, half-word or byte. Returns the word that contains it, as
  // it was before, or for sc 0 if it stored and 1 if not; nothing if the access is a fault.
  virtual std::optional<std::uint32_t> execute(machine::access op, std::uint32_t address,
                                               std::uint32_t lanes, unsigned strobe,
                                               bool machine_mode) = 0;
};

inline std::uint32_t combine(access op, std::uint32_t old, std::uint32_t operand) {
  const auto a = static_cast<std::int32_t>(old), b = static_cast<std::int32_t>(operand);
  switch (op) {
    case access::add: return old + operand;
    case access::exclusive_or: return old ^ operand;
    case access::conjunction: return old & operand;
    case access::disjunction: return old | operand;
    case access::min: return a < b ? old : operand;
    case access::max: return a > b ? old : operand;
    case access::minu: return old < operand ? old : operand;
    case access::maxu: return old > operand ? old : operand;
    default: return operand;
  }
}

// The answer of the extension port to an instruction.
struct extension {
  bool known = false, ready = false, writes = false;
  std::uint32_t rd = 0;
};

class reference {
 public:
  static constexpr unsigned msip = 1u << 3, mtip = 1u << 7, meip = 1u << 11;
  // Not a bit of mip: a remote call is pending.
  static constexpr unsigned call = 1u << 16;

  reference(std::uint32_t hart, std::uint32_t image_bytes)
      : hart_(hart), image_bytes_(image_bytes) {}

  std::uint32_t pc() const { return pc_; }
  bool machine_mode() const { return machine_; }

  // Returns the cause of the interrupt that the processor must take now, if any.
  std::optional<unsigned> interrupt(unsigned pending) const {
    const unsigned due = pending & mie_;
    if (due == 0 || (machine_ && !(mstatus_ & mie_bit))) return {};
    for (const unsigned cause : {11u, 3u, 7u})
      if (due >> cause & 1) return cause;
    return {};
  }
  // The last instruction, or trap, did not just go on to the next address.
  bool redirected() const { return redirected_; }
  bool wakes(unsigned pending) const {
    return (pending & mie_) != 0 || ((pending & call) != 0 && takes_calls());
  }

  // Whether the processor must take a remote call now, if there is no interrupt.
  bool calls(unsigned pending) const {
    return (pending & call) != 0 && takes_calls() && !masked_ && !busy_ &&
           (!machine_ || (mstatus_ & mie_bit));
  }
  retirement take_call(std::uint32_t insn) {
    retirement r = begin(insn);
    r.trap = r.is_interrupt = redirected_ = true;
    reserved_ = false;
    r.cause = 25;
    rcpc_ = pc_;
    pc_ = mrcentry_;
    busy_ = true;
    if (machine_) mstatus_ &= ~mie_bit;
    return r;
  }

  retirement take_interrupt(unsigned cause, std::uint32_t insn) {
    retirement r = begin(insn);
    trap(r, cause, 0);
    r.is_interrupt = true;
    mcause_ |= 1u << 31;
    return r;
  }

  // Executes the instruction at pc(). `pending` are the interrupts, for mip.
  retirement execute(std::uint32_t insn, unsigned pending, data_memory& memory,
                     const extension& answer) {
    retirement r = begin(insn);
    next_ = pc_ + 4;
    next_busy_ = busy_;
    redirected_ = false;
    if (pc_ >= image_bytes_)
      trap(r, 1, pc_);
    else
      dispatch(r, insn, pending, memory, answer);
    if (!r.trap) {
      if (r.rd != 0) x_[place(r.rd)] = r.result;
      if (!instret_written_) ++minstret_;
      busy_ = next_busy_;
      pc_ = next_;
    }
    instret_written_ = false;
    return r;
  }

  // A cycle has ended.
  void tick() {
    if (!cycle_written_) ++mcycle_;
    cycle_written_ = false;
  }

 private:
  static constexpr std::uint32_t mie_bit = 1u << 3, mpie_bit = 1u << 7, mpp_bits = 3u << 11;

  static std::int32_t s(std::uint32_t v) { return static_cast<std::int32_t>(v); }
  static std::uint32_t u(std::int32_t v) { return static_cast<std::uint32_t>(v); }
  // The low `bits` of a value, sign-extended.
  static std::uint32_t extend(std::uint32_t value, unsigned bits) {
    return u(s(value << (32 - bits)) >> (32 - bits));
  }

  retirement begin(std::uint32_t insn) const {
    retirement r;
    r.machine_mode = machine_;
    r.pc = pc_;
    r.insn = insn;
    return r;
  }

  void trap(retirement& r, unsigned cause, std::uint32_t tval) {
    r.trap = redirected_ = true;
    reserved_ = false;
    r.cause = cause;
    r.tval = tval;
    r.rd = 0;
    mepc_ = pc_;
    mcause_ = cause;
    mtval_ = tval;
    const std::uint32_t was_enabled = mstatus_ & mie_bit;
    mstatus_ = (was_enabled ? mpie_bit : 0) | (machine_ ? mpp_bits : 0);
    machine_ = true;
    pc_ = mtvec_;
  }
  void illegal(retirement& r) { trap(r, 2, r.insn); }

  bool takes_calls() const { return enabled_call_ && machine_call_ == machine_; }
  // A handler of a remote call has ra, t0 to t6 and a0 to a7 of its own.
  unsigned place(unsigned x) const {
    const bool is_own = x == 1 || (x >= 5 && x <= 7) || (x >= 10 && x <= 17) || x >= 28;
    return busy_ && is_own ? 32 + x : x;
  }

  static void write(retirement& r, std::uint32_t value) {
    r.rd = r.insn >> 7 & 31;
    r.result = value;
  }

  void jump(retirement& r, std::uint32_t target, bool links) {
    if (target & 3) return trap(r, 0, target);
    if (links) write(r, pc_ + 4);
    next_ = target;
    redirected_ = true;
  }

  void dispatch(retirement& r, std::uint32_t i, unsigned pending, data_memory& memory,
                const extension& answer) {
    const std::uint32_t a = x_[place(i >> 15 & 31)], b = x_[place(i >> 20 & 31)];
    const unsigned f3 = i >> 12 & 7, f7 = i >> 25;
    const std::uint32_t imm_i = extend(i >> 20, 12);
    switch (i & 0x7f) {
      case 0x37: return write(r, i & 0xfffff000u);
      case 0x17: return write(r, pc_ + (i & 0xfffff000u));
      case 0x6f:
        return jump(r,
                    pc_ + extend((i >> 31 << 20) | (i >> 12 & 0xff) << 12 | (i >> 20 & 1) << 11 |
                                     (i >> 21 & 0x3ff) << 1,
                                 21),
                    true);
      case 0x67: return f3 == 0 ? jump(r, (a + imm_i) & ~1u, true) : illegal(r);
      case 0x63: {
        if (f3 == 2 || f3 == 3) return illegal(r);
        const bool less = f3 & 2 ? a < b : s(a) < s(b);
        const bool holds = (f3 & 4 ? less : a == b) != static_cast<bool>(f3 & 1);
        const std::uint32_t offset = extend(
            (i >> 31) << 12 | (i >> 7 & 1) << 11 | (i >> 25 & 0x3f) << 5 | (i >> 8 & 0xf) << 1, 13);
        if (holds) jump(r, pc_ + offset, false);
        return;
      }
      case 0x03: return load(r, memory, a + imm_i, f3);
      case 0x23: return store(r, memory, a + extend((f7 << 5) | (i >> 7 & 31), 12), b, f3);
      case 0x2f: return atomic(r, memory, a, b);
      case 0x13: {
        if ((f3 == 1 && f7 != 0) || (f3 == 5 && f7 != 0 && f7 != 0x20)) return illegal(r);
        return write(r, arithmetic(f3, f3 == 5 && f7 == 0x20, a, imm_i));
      }
      case 0x33:
        if (f7 == 1) return write(r, multiply_or_divide(f3, a, b));
        if (f7 != 0 && (f7 != 0x20 || (f3 != 0 && f3 != 5))) return illegal(r);
        return write(r, arithmetic(f3, f7 == 0x20, a, b));
      case 0x0f: return f3 > 1 ? illegal(r) : void();
      case 0x73: return f3 == 0 ? system(r, i) : control(r, i, a, pending);
      case 0x0b:
      case 0x2b:
        if (!answer.known) return illegal(r);
        if (!answer.ready) return trap(r, 24, i);
        if (answer.writes) write(r, answer.rd);
        return;
      default: return illegal(r);
    }
  }

  static std::uint32_t arithmetic(unsigned f3, bool other, std::uint32_t a, std::uint32_t b) {
    switch (f3) {
      case 0: return other ? a - b : a + b;
      case 1: return a << (b & 31);
      case 2: return s(a) < s(b);
      case 3: return a < b;
      case 4: return a ^ b;
      case 5: return other ? u(s(a) >> (b & 31)) : a >> (b & 31);
      case 6: return a | b;
      default: return a & b;
    }
  }

  static std::uint32_t multiply_or_divide(unsigned f3, std::uint32_t a, std::uint32_t b) {
    const std::int64_t sa = s(a), sb = s(b);
    const std::uint64_t ua = a, ub = b;
    const bool overflows = sa == std::numeric_limits<std::int32_t>::min() && sb == -1;
    switch (f3) {
      case 0: return static_cast<std::uint32_t>(ua * ub);
      case 1: return static_cast<std::uint32_t>((sa * sb) >> 32);
      case 2: return static_cast<std::uint32_t>((sa * static_cast<std::int64_t>(ub)) >> 32);
      case 3: return static_cast<std::uint32_t>((ua * ub) >> 32);
      case 4: return b == 0 ? ~0u : overflows ? a : static_cast<std::uint32_t>(sa / sb);
      case 5: return b == 0 ? ~0u : a / b;
      case 6: return b == 0 ? a : overflows ? 0 : static_cast<std::uint32_t>(sa % sb);
      default: return b == 0 ? a : a % b;
    }
  }

  void load(retirement& r, data_memory& memory, std::uint32_t address, unsigned f3) {
    if (f3 == 3 || f3 > 5) return illegal(r);
    const unsigned bytes = 1u << (f3 & 3);
    if (address % bytes != 0) return trap(r, 4, address);
    const unsigned at = address % 4;
    const auto word = memory.execute(access::load, address, 0, ((1u << bytes) - 1) << at, machine_);
    if (!word) return trap(r, 5, address);
    const std::uint32_t value = *word >> (8 * at);
    write(r, bytes == 4 ? value
             : f3 & 4   ? value & (bytes == 1 ? 0xffu : 0xffffu)
                        : extend(value, 8 * bytes));
  }

  void store(retirement& r, data_memory& memory, std::uint32_t address, std::uint32_t value,
             unsigned f3) {
    if (f3 > 2) return illegal(r);
    const unsigned bytes = 1u << f3;
    if (address % bytes != 0) return trap(r, 6, address);
    const unsigned at = address % 4;
    if (!memory.execute(access::store, address, value << (8 * at), ((1u << bytes) - 1) << at,
                        machine_))
      trap(r, 7, address);
  }

  void atomic(retirement& r, data_memory& memory, std::uint32_t address, std::uint32_t value) {
    if ((r.insn >> 12 & 7) != 2) return illegal(r);
    machine::access op;
    switch (r.insn >> 27) {
      case 0: op = access::add; break;
      case 1: op = access::swap; break;
      case 2:
        if (r.insn >> 20 & 31) return illegal(r);
        op = access::lr;
        break;
      case 3: op = access::sc; break;
      case 4: op = access::exclusive_or; break;
      case 8: op = access::disjunction; break;
      case 12: op = access::conjunction; break;
      case 16: op = access::min; break;
      case 20: op = access::max; break;
      case 24: op = access::minu; break;
      case 28: op = access::maxu; break;
      default: return illegal(r);
    }
    const bool reads = op == access::lr;
    if (address % 4 != 0) return trap(r, reads ? 4 : 6, address);
    // A sc fails without an access unless the last lr of this piece of code has no sc yet.
    if (op == access::sc && !std::exchange(reserved_, false)) return write(r, 1);
    const auto word = memory.execute(op, address, value, 15, machine_);
    if (!word) return trap(r, reads ? 5 : 7, address);
    if (reads) reserved_ = true;
    write(r, *word);
  }

  void system(retirement& r, std::uint32_t insn) {
    switch (insn) {
      case 0x00000073: return trap(r, machine_ ? 11 : 8, 0);
      case 0x00100073: return trap(r, 3, pc_);
      case 0x10500073: return;  // wfi; the caller waits
      case 0x00200073:
        if (!busy_ || machine_call_ != machine_) return illegal(r);
        next_ = rcpc_;
        redirected_ = true;
        reserved_ = false;
        next_busy_ = false;
        if (machine_) mstatus_ |= mie_bit;
        return;
      case 0x30200073:
        if (!machine_) return illegal(r);
        next_ = mepc_;
        redirected_ = true;
        reserved_ = false;
        machine_ = (mstatus_ & mpp_bits) != 0;
        mstatus_ = (mstatus_ & mpie_bit ? mie_bit : 0) | mpie_bit;
        return;
      default: return illegal(r);
    }
  }

  // csrrw, csrrs, csrrc and their immediate variants.
  void control(retirement& r, std::uint32_t insn, std::uint32_t rs1, unsigned pending) {
    const unsigned f3 = insn >> 12 & 7, source = insn >> 15 & 31, number = insn >> 20;
    if (f3 == 4) return illegal(r);
    const std::uint32_t operand = f3 & 4 ? source : rs1;
    const bool writes = (f3 & 3) == 1 || source != 0;
    const auto old = read(number, pending);
    // rcall and rcpc belong to the mode that takes calls, and to machine mode in any case.
    const bool is_of_machine =
        (number >> 8 & 3) != 0 || (machine_call_ && (number == 0x800 || number == 0x801));
    if (!old || (!machine_ && is_of_machine) || (writes && number >> 10 == 3)) return illegal(r);
    write(r, *old);
    if (writes)
      set(number, (f3 & 3) == 1 ? operand : (f3 & 3) == 2 ? *old | operand : *old & ~operand);
  }

  std::optional<std::uint32_t> read(unsigned number, unsigned pending) const {
    const unsigned counter = number & 31;
    if (((number & ~31u) == 0xb00 || (number & ~31u) == 0xb80 || (number & ~31u) == 0x320) &&
        counter >= 3)
      return 0;
    switch (number) {
      case 0x300: return mstatus_;
      case 0x301: return 1u << 30 | 1u << 20 | 1u << 12 | 1u << 8 | 1u;
      case 0x304: return mie_;
      case 0x305: return mtvec_;
      case 0x306: return 5;
      case 0x320: return 0;
      case 0x340: return mscratch_;
      case 0x341: return mepc_;
      case 0x342: return mcause_;
      case 0x343: return mtval_;
      case 0x344: return pending & (msip | mtip | meip);
      case 0x7c0: return busy_ * 4u + machine_call_ * 2u + enabled_call_;
      case 0x7c1: return mrcentry_;
      case 0x800: return ((pending & call) != 0) * 4u + busy_ * 2u + masked_;
      case 0x801: return rcpc_;
      case 0xb00:
      case 0xc00: return static_cast<std::uint32_t>(mcycle_);
      case 0xb80:
      case 0xc80: return static_cast<std::uint32_t>(mcycle_ >> 32);
      case 0xb02:
      case 0xc02: return static_cast<std::uint32_t>(minstret_);
      case 0xb82:
      case 0xc82: return static_cast<std::uint32_t>(minstret_ >> 32);
      case 0xf11:
      case 0xf12:
      case 0xf13: return 0;
      case 0xf14: return hart_;
      default: return {};
    }
  }

  void set(unsigned number, std::uint32_t value) {
    const auto low = [value](std::uint64_t& counter) {
      counter = (counter & ~std::uint64_t{0xffffffffu}) | value;
    };
    const auto high = [value](std::uint64_t& counter) {
      counter = (counter & 0xffffffffu) | std::uint64_t{value} << 32;
    };
    switch (number) {
      case 0x300:
        mstatus_ = (value & (mie_bit | mpie_bit)) | ((value & mpp_bits) == mpp_bits ? mpp_bits : 0);
        return;
      case 0x304: mie_ = value & (msip | mtip | meip); return;
      case 0x305: mtvec_ = value & ~3u; return;
      case 0x340: mscratch_ = value; return;
      case 0x341: mepc_ = value & ~3u; return;
      case 0x342: mcause_ = value & 0x8000001fu; return;
      case 0x343: mtval_ = value; return;
      case 0x7c0:
        enabled_call_ = value & 1;
        machine_call_ = (value & 2) != 0;
        next_busy_ = (value & 4) != 0;
        return;
      case 0x7c1: mrcentry_ = value & ~3u; return;
      case 0x800: masked_ = value & 1; return;
      case 0x801: rcpc_ = value & ~3u; return;
      case 0xb00:
        low(mcycle_);
        cycle_written_ = true;
        return;
      case 0xb80:
        high(mcycle_);
        cycle_written_ = true;
        return;
      case 0xb02:
        low(minstret_);
        instret_written_ = true;
        return;
      case 0xb82:
        high(minstret_);
        instret_written_ = true;
        return;
      default: return;
    }
  }

  std::uint32_t hart_, image_bytes_;
  // The second half is of the handlers of remote calls.
  std::array<std::uint32_t, 64> x_{};
  std::uint32_t pc_ = 0, next_ = 0;
  bool machine_ = true;
  std::uint32_t mstatus_ = 0, mie_ = 0, mtvec_ = 0, mscratch_ = 0, mepc_ = 0, mcause_ = 0,
                mtval_ = 0;
  std::uint64_t mcycle_ = 0, minstret_ = 0;
  bool enabled_call_ = false, machine_call_ = false, busy_ = false, masked_ = false;
  bool next_busy_ = false;
  std::uint32_t mrcentry_ = 0, rcpc_ = 0;
  bool reserved_ = false, redirected_ = false, cycle_written_ = false, instret_written_ = false;
};

}  // namespace tutti::machine
