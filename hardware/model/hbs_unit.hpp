// SPDX-License-Identifier: Apache-2.0
// tutti_hbs_unit in C++, cycle by cycle: one socket's Hardware Barrier Structure with its
// registers. A test (hardware/cosim/tests/model_test.cpp) drives both with the same random inputs,
// and compares every output in every cycle.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "hardware/driver/hbs_registers.hpp"
#include "hardware/model/barrier_registers.hpp"

namespace tutti::hardware::model {

// The most bits of a barrier: 256 threads of the socket, then 7 peers.
constexpr unsigned most_hbs_bits = 263;
using hbs_bits = std::bitset<most_hbs_bits>;

struct hbs_inputs {
  register_request request;
  // A bit for each peer: it announces an arrival, at this barrier; it takes an announcement.
  unsigned announced = 0;
  std::vector<unsigned> announced_barrier;
  unsigned takes = ~0u;
};
struct hbs_outputs {
  bool takes_request = false;
  std::uint64_t value = 0;
  // The peers whose announcements are taken.
  unsigned takes = 0;
  bool completes = false;
  unsigned completed_barrier = 0;
  // The local threads that take part.
  hbs_bits completed;
  // The peers to which an arrival at the barrier is announced.
  unsigned announces = 0, announced_barrier = 0;
};

class hbs_unit {
 public:
  hbs_unit(unsigned barriers, unsigned local, unsigned peers, unsigned generation_bits = 8)
      : local_(local),
        peers_(peers),
        bits_(local + peers),
        mask_words_((bits_ + 63) / 64),
        generation_bits_(generation_bits),
        barriers_(barriers),
        mask_(mask_words_) {}

  // Whether it does something in a cycle without inputs.
  bool is_busy() const { return completes_ || announces_ != 0; }

  // One cycle: returns its outputs, and is the clock edge at its end.
  hbs_outputs step(const hbs_inputs& in) {
    const decoded r = decode(in.request);
    hbs_outputs out;
    out.completes = completes_;
    out.completed_barrier = completed_barrier_;
    out.completed = completed_;
    out.announces = announces_;
    out.announced_barrier = announced_barrier_;
    out.value = value_of(in.request, r);

    // Whom the arbiter serves: 0 is the local request, k + 1 peer k.
    const bool asks = in.request.valid && r.is_message && announces_ == 0;
    const unsigned requests = (asks ? 1u : 0u) | in.announced << 1;
    const unsigned preferred = (requests & later_) != 0 ? requests & later_ : requests;
    const unsigned granted = preferred & (~preferred + 1);
    if (granted != 0) later_ = ~(granted | (granted - 1));
    out.takes = granted >> 1;
    out.takes_request = !r.is_message || (granted & 1) != 0;
    const bool writes = in.request.valid && in.request.is_write && out.takes_request;

    // The messages of this cycle change what the next one shows.
    std::uint64_t errors = writes ? own_errors(r) : 0;
    if (completes_) next_generation(barriers_[completed_barrier_].generation);
    completes_ = false;
    announces_ &= ~in.takes;
    if ((granted & 1) != 0) errors |= take(r.kind, r.barrier, r.thread);
    for (unsigned k = 0; k < peers_; ++k)
      if ((granted >> (k + 1) & 1) != 0)
        errors |= take(message::socket_arrives, in.announced_barrier[k], local_ + k);
    if (writes) write(in.request, r);
    const bool clears = writes && in.request.offset == hbs::error;
    errors_ = (clears ? errors_ & ~in.request.value : errors_) | errors;
    return out;
  }

 private:
  enum class message { create, init, core_arrives, socket_arrives };

  // What a request's address means.
  struct decoded {
    bool in_lines = false, in_sense = false, in_cluster = false, in_state = false;
    bool is_good = false, is_last_word = false, is_refused = false, is_message = false;
    message kind = message::core_arrives;
    unsigned barrier = 0, thread = 0, word = 0;
  };

  // 0 marks a participant that has not arrived; bits of others are 1.
  struct barrier_state {
    hbs_bits waits_for = hbs_bits().set(), state = hbs_bits().set();
    // Peers that have announced the episode after this one.
    unsigned ahead = 0;
    std::uint32_t generation = 0;
  };

  unsigned words() const { return mask_words_ + 1; }
  void next_generation(std::uint32_t& g) const {
    g = static_cast<std::uint32_t>((g + 1) & ((std::uint64_t{1} << generation_bits_) - 1));
  }

  decoded decode(const register_request& r) const {
    decoded d;
    const std::uint64_t region = r.offset >> 21 & 3;
    if (region != 0) {
      d.in_lines = true;
      d.in_sense = region == 2;
      d.barrier = r.offset >> 14 & 0x7F;
      d.thread = r.offset >> 6 & 0xFF;
      d.is_good = d.barrier < barriers_.size() && d.thread < local_ && r.offset % 64 == 0;
      d.kind = region == 3 ? message::init : message::core_arrives;
      d.is_message = r.is_write && d.is_good && !d.in_sense;
      return d;
    }
    const std::uint64_t area = r.offset >> 16 & 0x1F;
    d.in_cluster = area == 1;
    d.in_state = area == 2;
    const auto place = static_cast<unsigned>(r.offset >> 3 & 0x1FFF);
    d.barrier = place / words();
    d.word = place % words();
    d.is_good = d.barrier < barriers_.size() && r.offset % 8 == 0;
    d.is_last_word = d.word == mask_words_;
    d.is_refused = r.value != 0 || has_stray_bits() || !has_local();
    d.is_message = d.in_cluster && r.is_write && d.is_last_word && d.is_good && !d.is_refused;
    d.kind = message::create;
    return d;
  }

  bool bit_of_mask(unsigned bit) const { return (mask_[bit / 64] >> bit % 64 & 1) != 0; }
  bool has_stray_bits() const { return bits_ % 64 != 0 && mask_.back() >> bits_ % 64 != 0; }
  bool has_local() const {
    for (unsigned bit = 0; bit < local_; ++bit)
      if (bit_of_mask(bit)) return true;
    return false;
  }
  bool all_local(const hbs_bits& state) const {
    for (unsigned bit = 0; bit < local_; ++bit)
      if (!state[bit]) return false;
    return true;
  }

  static std::uint64_t own_errors(const decoded& d) {
    const bool is_outside = (d.in_lines || d.in_cluster) && !d.is_good;
    const bool is_bad = d.in_cluster && d.is_good && d.is_last_word && d.is_refused;
    std::uint64_t errors = 0;
    if (is_outside) errors |= hbs::out_of_range;
    if (is_bad) errors |= hbs::bad_create;
    return errors;
  }

  std::uint64_t value_of(const register_request& r, const decoded& d) const {
    if (d.in_lines)
      return d.in_sense && d.is_good ? std::uint64_t{barriers_[d.barrier].generation} << 32 : 0;
    if (d.in_cluster || d.in_state) {
      std::uint64_t word = 0;
      if (!d.is_good || d.is_last_word) return 0;
      const barrier_state& b = barriers_[d.barrier];
      for (unsigned bit = 64 * d.word; bit < bits_ && bit < 64 * (d.word + 1); ++bit)
        if (!b.waits_for[bit] && (d.in_cluster || b.state[bit])) word |= 1ull << bit % 64;
      return word;
    }
    switch (r.offset) {
      case hbs::id: return hbs::id_value;
      case hbs::version: return hbs::version_value;
      case hbs::capability:
        return std::uint64_t{generation_bits_} << 56 | std::uint64_t{local_} << 40 |
               std::uint64_t{words()} << 32 | barriers_.size() << 16 | bits_;
      case hbs::error: return errors_;
      default: return 0;
    }
  }

  // A request that is taken and is a write.
  void write(const register_request& r, const decoded& d) {
    if (d.in_cluster && d.is_good && !d.is_last_word) mask_[d.word] = r.value;
    if (d.is_message && d.kind == message::create) barriers_[d.barrier].generation = 0;
  }

  // A message; returns its errors.
  std::uint64_t take(message kind, unsigned barrier, unsigned source) {
    barrier_state& b = barriers_[barrier];
    if (kind == message::create) {
      b.waits_for.set();
      for (unsigned bit = 0; bit < bits_; ++bit) b.waits_for[bit] = !bit_of_mask(bit);
      b.state = b.waits_for;
      b.ahead = 0;
      return 0;
    }
    if (b.waits_for[source]) return hbs::foreign;
    const bool had_local = all_local(b.state), had_arrived = b.state[source];
    if (kind == message::init) {
      if (had_local) return hbs::late_init;
      b.state[source] = false;
      return 0;
    }
    std::uint64_t errors = 0;
    if (kind == message::socket_arrives) {
      const unsigned peer = 1u << (source - local_);
      if ((b.ahead & peer) != 0) errors = hbs::arrived_again;
      if (had_arrived) b.ahead |= peer;
    } else if (had_arrived) {
      errors = hbs::arrived_again;
    }
    b.state[source] = true;
    if (kind == message::core_arrives && !had_local && all_local(b.state)) announce(b, barrier);
    if (b.state.all()) complete(b, barrier);
    return errors;
  }

  void announce(const barrier_state& b, unsigned barrier) {
    announced_barrier_ = barrier;
    announces_ = 0;
    for (unsigned k = 0; k < peers_; ++k)
      if (!b.waits_for[local_ + k]) announces_ |= 1u << k;
  }

  void complete(barrier_state& b, unsigned barrier) {
    completes_ = true;
    completed_barrier_ = barrier;
    completed_.reset();
    for (unsigned bit = 0; bit < local_; ++bit) completed_[bit] = !b.waits_for[bit];
    b.state = b.waits_for;
    for (unsigned k = 0; k < peers_; ++k)
      if ((b.ahead >> k & 1) != 0) b.state[local_ + k] = true;
    b.ahead = 0;
  }

  unsigned local_, peers_, bits_, mask_words_, generation_bits_;
  std::vector<barrier_state> barriers_;
  // The words of the cluster that software writes.
  std::vector<std::uint64_t> mask_;
  std::uint64_t errors_ = 0;
  // The inputs after the one that was served last.
  unsigned later_ = 0;
  bool completes_ = false;
  unsigned completed_barrier_ = 0;
  hbs_bits completed_;
  unsigned announces_ = 0, announced_barrier_ = 0;
};

}  // namespace tutti::hardware::model
