// SPDX-License-Identifier: Apache-2.0
// The context in which operations run, and their common signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vcode/kernels/elementwise.hpp"
#include "vcode/kernels/fold.hpp"
#include "vcode/language/program.hpp"
#include "vcode/machine/clock.hpp"
#include "vcode/machine/executor.hpp"
#include "vcode/machine/segment_view.hpp"
#include "vcode/machine/store.hpp"
#include "vcode/machine/value.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {

class random_stream;
class file_table;

struct context {
  store& memory;
  executor& workers;
  run_statistics& statistics;
  const run_options& options;
  random_stream& random;
  file_table& files;
  clock_function* clock;
  // Set by START_TIMER.
  double started = 0;
  // The number of elements from which elementwise results are deferred; 0 means never.
  std::size_t defer_from = 0;
};

// A prepared instruction: its operation, and everything that can be looked up in advance.
struct step;
// `operands` points to the values that the instruction takes, deepest first. The operation takes
// them over and leaves its results in their place and above.
using operation = void (*)(context& c, const step& s, value* operands);

struct step {
  operation run = nullptr;
  opcode code = opcode::ret;
  // The type word, CHAR included.
  kind type = kind::none;
  // The type of the first result.
  kind result = kind::none;
  // The change in the number of values on the stack.
  std::int8_t change = 0;
  std::uint8_t operands = 0;
  // The same as in `instruction`.
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::uint32_t line = 0;
  elementwise_kernel vector = nullptr;
  elementwise_kernel scalar = nullptr;
  elementwise_kernel by_constant = nullptr;
  const fold_kernels* fold = nullptr;
};

// Computes a deferred vector (deferred.cpp).
void force(context& c, block* b);

inline void force(context& c, value v) {
  if (!v.is_scalar() && v.vector()->deferred != nullptr) force(c, v.vector());
}

// Returns the elements, wherever they are stored.
template <class T>
const T* elements(context& c, const value& v) {
  force(c, v);
  return static_cast<const T*>(v.is_scalar() ? v.address() : v.vector()->data);
}

[[noreturn]] void fail(const std::string& sentence);
// Reports different lengths of the vectors that `first` and `second` name.
[[noreturn]] void fail_lengths(const char* first, std::int64_t length, const char* second,
                               std::int64_t other);

inline void require_same_length(const char* first, std::int64_t length, const char* second,
                                std::int64_t other) {
  if (length != other) fail_lengths(first, length, second, other);
}

// Call this before all threads write `elements`. It distributes the pages that the system has to
// clear over the threads. Otherwise the first thread that writes to a page clears it, and the
// threads may share that work unevenly.
void touch_fresh(context& c, std::size_t elements);

// A result under construction: a vector in memory, or one element.
class result_vector {
 public:
  result_vector(context& c, kind type, std::int32_t length);
  // Takes `operand` over and overwrites it if it has no other reference and its elements have the
  // same size.
  result_vector(context& c, kind type, value& operand);
  ~result_vector();
  result_vector(const result_vector&) = delete;
  result_vector& operator=(const result_vector&) = delete;

  template <class T>
  T* data() {
    return static_cast<T*>(data_);
  }
  // Call this after the last phase.
  value finish();

 private:
  context& c_;
  kind type_;
  block* block_ = nullptr;
  void* data_ = nullptr;
  // A single element, at an address to which other threads can write.
  alignas(8) std::byte element_[8] = {};
  allocator::part shared_{};
};

inline bool is_reusable(const value& v, kind type) {
  if (v.is_scalar()) return false;
  const block& b = *v.vector();
  // What is known about lengths that have offsets would no longer hold.
  return b.references == 1 && b.owns_data && b.deferred == nullptr && b.offsets == nullptr &&
         size_of(b.type) == size_of(type);
}

// Counts one pass over memory.
inline void count_pass(context& c, std::size_t elements, std::size_t bytes) {
  c.statistics.elements += elements;
  c.statistics.bytes += bytes;
  ++c.statistics.passes;
}

}  // namespace tutti::vcode
