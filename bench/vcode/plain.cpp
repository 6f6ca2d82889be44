// SPDX-License-Identifier: Apache-2.0
// Each instruction takes its operands from the stack and pushes what it has made.
#include "bench/vcode/plain.hpp"

#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/vcode/plain_vectors.hpp"
#include "vcode/io/format.hpp"
#include "vcode/kernels/operations.hpp"
#include "vcode/language/program.hpp"

namespace tutti::bench {
namespace {

using namespace plain;
using vcode::opcode;
namespace op = vcode::op;

// Integer division as a programmer writes it.
struct plain_divide {
  int32_t operator()(int32_t a, int32_t b) const {
    return b == -1 ? op::wrap(-op::bits(a)) : a / b;
  }
  double operator()(double a, double b) const { return a / b; }
};
struct plain_remainder {
  int32_t operator()(int32_t a, int32_t b) const { return b == -1 ? 0 : a % b; }
};

class interpreter {
 public:
  explicit interpreter(const vcode::program_data& data) : data_(data) {}
  ~interpreter() { std::for_each(stack_.begin(), stack_.end(), drop); }
  interpreter(const interpreter&) = delete;
  interpreter& operator=(const interpreter&) = delete;

  // Returns false after EXIT.
  bool run() {
    std::vector<std::size_t> returns;
    for (std::size_t at = data_.functions[data_.entry].begin;;) {
      const vcode::instruction& i = data_.code[at];
      ++at;
      switch (i.code) {
        case opcode::call:
          returns.push_back(at);
          at = data_.functions[static_cast<std::size_t>(i.first)].begin;
          break;
        case opcode::ret:
          if (returns.empty()) return true;
          at = returns.back();
          returns.pop_back();
          break;
        case opcode::branch_if: {
          const operand flag = pop();
          if (flag->as<uint8_t>()[0] == 0) at = static_cast<std::size_t>(i.first);
          break;
        }
        case opcode::branch_else: at = static_cast<std::size_t>(i.first); break;
        case opcode::end_if: break;
        case opcode::exit: return false;
        default: execute(i);
      }
    }
  }

  void print(std::FILE* to) {
    for (vector* v : stack_) {
      vcode::write_text(to, v->type, v->as<char>(), static_cast<std::size_t>(v->length));
    }
  }

 private:
  operand pop() {
    operand top(stack_.back());
    stack_.pop_back();
    return top;
  }
  void push(vector* v) { stack_.push_back(v); }

  void execute(const vcode::instruction& i) {
    switch (i.code) {
      case opcode::copy: {
        const std::size_t from = stack_.size() - static_cast<std::size_t>(i.first + i.second);
        for (std::size_t k = 0; k < static_cast<std::size_t>(i.first); ++k) {
          ++stack_[from + k]->references;
          push(stack_[from + k]);
        }
        break;
      }
      case opcode::pop: {
        const auto end = stack_.end() - i.second;
        std::for_each(end - i.first, end, drop);
        stack_.erase(end - i.first, end);
        break;
      }
      case opcode::cpop: {
        const auto middle = stack_.end() - i.second;
        std::rotate(middle - i.first, middle, stack_.end());
        break;
      }
      case opcode::constant:
        push_constant(data_.constants[static_cast<std::size_t>(i.first)]);
        break;
      case opcode::write: {
        const operand v = pop();
        vcode::write_text(stderr, i.type, v->as<char>(), static_cast<std::size_t>(v->length));
        push(make(kind::integer, 0));
        push_scalar<uint8_t>(1);
        break;
      }
      case opcode::start_timer: break;
      case opcode::stop_timer: push_scalar(0.0); break;
      case opcode::seed: {
        const operand v = pop();
        srandom(static_cast<unsigned>(v->as<int32_t>()[0]));
        push_scalar<uint8_t>(1);
        break;
      }
      default:
        if (i.code <= opcode::boolean_to_integer) {
          elementwise(i);
        } else if (i.code <= opcode::xor_reduce) {
          fold(i);
        } else {
          by_type(i);
        }
    }
  }

  template <class T>
  void push_scalar(T x) {
    vector* const made = make(kind_for<T>, 1);
    made->as<T>()[0] = x;
    push(made);
  }

  void push_constant(const vcode::constant_data& c) {
    const std::size_t count = c.type == kind::real ? c.reals.size() : c.integers.size();
    const kind type = c.type;
    vector* const made = make(type, static_cast<int32_t>(count));
    for (std::size_t k = 0; k < count; ++k) {
      if (type == kind::real) {
        made->as<double>()[k] = c.reals[k];
      } else if (type == kind::boolean) {
        made->as<uint8_t>()[k] = static_cast<uint8_t>(c.integers[k]);
      } else {
        made->as<int32_t>()[k] = c.integers[k];
        made->total += c.integers[k];
      }
    }
    push(made);
  }

  // A new vector, or an operand that nobody else refers to.
  template <class R>
  static vector* place_for(vector* a, vector* b = nullptr, vector* c = nullptr) {
    for (vector* each : {a, b, c}) {
      if (each == nullptr || each->references != 1) continue;
      if (vcode::size_of(each->type) != sizeof(R)) continue;
      ++each->references;
      return each;
    }
    return make(kind_for<R>, a->length);
  }

  template <class Operation, class A>
  void map1() {
    using R = decltype(Operation{}(A{}));
    const operand a = pop();
    vector* const made = place_for<R>(a.get());
    const A* const x = a->as<A>();
    R* const to = made->as<R>();
    for (int32_t k = 0; k < a->length; ++k) to[k] = Operation{}(x[k]);
    made->type = kind_for<R>;
    push(made);
  }

  template <class Operation, class A>
  void map2() {
    using R = decltype(Operation{}(A{}, A{}));
    const operand b = pop();
    const operand a = pop();
    vector* const made = place_for<R>(a.get(), b.get());
    const A* const x = a->as<A>();
    const A* const y = b->as<A>();
    R* const to = made->as<R>();
    for (int32_t k = 0; k < a->length; ++k) to[k] = Operation{}(x[k], y[k]);
    made->type = kind_for<R>;
    push(made);
  }

  template <class A>
  void select() {
    const operand b = pop();
    const operand a = pop();
    const operand flags = pop();
    vector* const made = place_for<A>(a.get(), b.get());
    for (int32_t k = 0; k < a->length; ++k) {
      made->as<A>()[k] = flags->as<uint8_t>()[k] != 0 ? a->as<A>()[k] : b->as<A>()[k];
    }
    push(made);
  }

  template <class Operation>
  void numbers(kind type) {
    type == kind::real ? map2<Operation, double>() : map2<Operation, int32_t>();
  }
  template <class Operation>
  void bits(kind type) {
    type == kind::boolean ? map2<Operation, uint8_t>() : map2<Operation, int32_t>();
  }

  void random() {
    const operand a = pop();
    vector* const made = make(kind::integer, a->length);
    for (int32_t k = 0; k < a->length; ++k) {
      made->as<int32_t>()[k] = static_cast<int32_t>(::random()) % a->as<int32_t>()[k];
    }
    push(made);
  }

  void elementwise(const vcode::instruction& i) {
    switch (i.code) {
      case opcode::add: return numbers<op::add>(i.type);
      case opcode::subtract: return numbers<op::subtract>(i.type);
      case opcode::multiply: return numbers<op::multiply>(i.type);
      case opcode::divide: return numbers<plain_divide>(i.type);
      case opcode::remainder: return map2<plain_remainder, int32_t>();
      case opcode::less: return numbers<op::less>(i.type);
      case opcode::less_equal: return numbers<op::less_equal>(i.type);
      case opcode::greater: return numbers<op::greater>(i.type);
      case opcode::greater_equal: return numbers<op::greater_equal>(i.type);
      case opcode::equal: return numbers<op::equal>(i.type);
      case opcode::not_equal: return numbers<op::not_equal>(i.type);
      case opcode::shift_left: return map2<op::shift_left, int32_t>();
      case opcode::shift_right: return map2<op::shift_right, int32_t>();
      case opcode::logical_not:
        return i.type == kind::boolean ? map1<op::logical_not, uint8_t>()
                                       : map1<op::logical_not, int32_t>();
      case opcode::logical_and: return bits<op::logical_and>(i.type);
      case opcode::logical_or: return bits<op::logical_or>(i.type);
      case opcode::logical_xor: return bits<op::logical_xor>(i.type);
      case opcode::select:
        if (i.type == kind::real) return select<double>();
        return i.type == kind::boolean ? select<uint8_t>() : select<int32_t>();
      case opcode::random: return random();
      case opcode::floor: return map1<op::floor, double>();
      case opcode::ceil: return map1<op::ceil, double>();
      case opcode::trunc: return map1<op::trunc, double>();
      case opcode::round: return map1<op::round, double>();
      case opcode::log: return map1<op::mathematical<std::log>, double>();
      case opcode::sqrt: return map1<op::sqrt, double>();
      case opcode::exp: return map1<op::mathematical<std::exp>, double>();
      case opcode::sin: return map1<op::mathematical<std::sin>, double>();
      case opcode::cos: return map1<op::mathematical<std::cos>, double>();
      case opcode::tan: return map1<op::mathematical<std::tan>, double>();
      case opcode::asin: return map1<op::mathematical<std::asin>, double>();
      case opcode::acos: return map1<op::mathematical<std::acos>, double>();
      case opcode::atan: return map1<op::mathematical<std::atan>, double>();
      case opcode::sinh: return map1<op::mathematical<std::sinh>, double>();
      case opcode::cosh: return map1<op::mathematical<std::cosh>, double>();
      case opcode::tanh: return map1<op::mathematical<std::tanh>, double>();
      case opcode::integer_to_real: return map1<op::integer_to_real, int32_t>();
      case opcode::integer_to_boolean: return map1<op::integer_to_boolean, int32_t>();
      default: return map1<op::boolean_to_integer, uint8_t>();
    }
  }

  template <class Operation, class T>
  void scan_or_reduce(bool is_scan) {
    const operand s = pop();
    const operand a = pop();
    vector* const made = is_scan ? place_for<T>(a.get()) : make(kind_for<T>, s->length);
    const T* in = a->as<T>();
    T* out = made->as<T>();
    for (int32_t j = 0; j < s->length; ++j) {
      const int32_t count = s->as<int32_t>()[j];
      T value = op::identity<Operation, T>;
      if (is_scan) {
        for (int32_t k = 0; k < count; ++k) {
          const T element = in[k];
          out[k] = value;
          value = Operation{}(value, element);
        }
        out += count;
      } else {
        for (int32_t k = 0; k < count; ++k) value = Operation{}(value, in[k]);
        *out++ = value;
      }
      in += count;
    }
    push(made);
  }
  template <class Operation>
  void fold_numbers(kind type, bool is_scan) {
    type == kind::real ? scan_or_reduce<Operation, double>(is_scan)
                       : scan_or_reduce<Operation, int32_t>(is_scan);
  }
  template <class Operation>
  void fold_bits(kind type, bool is_scan) {
    type == kind::boolean ? scan_or_reduce<Operation, uint8_t>(is_scan)
                          : scan_or_reduce<Operation, int32_t>(is_scan);
  }

  void fold(const vcode::instruction& i) {
    const bool is_scan = i.code <= opcode::xor_scan;
    switch (i.code) {
      case opcode::add_scan:
      case opcode::add_reduce: return fold_numbers<op::add>(i.type, is_scan);
      case opcode::multiply_scan:
      case opcode::multiply_reduce: return fold_numbers<op::multiply>(i.type, is_scan);
      case opcode::max_scan:
      case opcode::max_reduce: return fold_numbers<op::maximum>(i.type, is_scan);
      case opcode::min_scan:
      case opcode::min_reduce: return fold_numbers<op::minimum>(i.type, is_scan);
      case opcode::and_scan:
      case opcode::and_reduce: return fold_bits<op::logical_and>(i.type, is_scan);
      case opcode::or_scan:
      case opcode::or_reduce: return fold_bits<op::logical_or>(i.type, is_scan);
      default: return fold_bits<op::logical_xor>(i.type, is_scan);
    }
  }

  void by_type(const vcode::instruction& i) {
    switch (i.type) {
      case kind::real: return other<double>(i.code);
      case kind::boolean: return other<uint8_t>(i.code);
      default: return other<int32_t>(i.code);
    }
  }

  template <class T>
  void other(opcode code) {
    switch (code) {
      case opcode::rank_up:
      case opcode::rank_down: return rank<T>(code == opcode::rank_down);
      case opcode::permute: return scatter<T>(false, false);
      case opcode::dpermute: return scatter<T>(false, true);
      case opcode::fpermute: return scatter<T>(true, false);
      case opcode::dfpermute: return scatter<T>(true, true);
      case opcode::bpermute: return gather<T>(false);
      case opcode::bfpermute: return gather<T>(true);
      case opcode::extract: return extract<T>();
      case opcode::replace: return replace<T>();
      case opcode::dist: return dist<T>();
      case opcode::index: return index();
      case opcode::pack: return pack<T>();
      case opcode::length: {
        const operand v = pop();
        push_scalar(v->length);
        return;
      }
      case opcode::make_segdes: return make_segdes();
      case opcode::lengths: {
        const operand v = pop();
        vector* const made = make(kind::integer, v->length);
        std::memcpy(made->as<char>(), v->as<char>(), static_cast<std::size_t>(v->length) * 4);
        push(made);
        return;
      }
      default:
        throw std::runtime_error("the plain interpreter does not have " +
                                 std::string(vcode::info(code).name));
    }
  }

  // Stable, byte by byte from the lowest.
  template <class T>
  void rank(bool down) {
    using word = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;
    struct pair {
      word key;
      int32_t at;
    };
    const operand s = pop();
    const operand a = pop();
    vector* const made = make(kind::integer, a->length);
    std::vector<pair> from, to;
    int32_t base = 0;
    for (int32_t j = 0; j < s->length; ++j) {
      const int32_t count = s->as<int32_t>()[j];
      from.resize(static_cast<std::size_t>(count));
      to.resize(from.size());
      constexpr word sign = word{1} << (8 * sizeof(word) - 1);
      for (int32_t k = 0; k < count; ++k) {
        word bits{};
        std::memcpy(&bits, a->as<T>() + base + k, std::min(sizeof bits, sizeof(T)));
        const bool flips = std::is_same_v<T, double> && (bits & sign) != 0;
        const word key = flips ? ~bits : bits ^ sign;
        from[static_cast<std::size_t>(k)] = {down ? static_cast<word>(~key) : key, k};
      }
      for (unsigned shift = 0; shift < 8 * sizeof(word); shift += 8) {
        std::size_t at[257] = {};
        for (const pair& p : from) ++at[(p.key >> shift & 255) + 1];
        for (unsigned d = 0; d < 256; ++d) at[d + 1] += at[d];
        for (const pair& p : from) to[at[p.key >> shift & 255]++] = p;
        std::swap(from, to);
      }
      for (int32_t k = 0; k < count; ++k) {
        made->as<int32_t>()[base + from[static_cast<std::size_t>(k)].at] = k;
      }
      base += count;
    }
    push(made);
  }

  template <class T>
  void scatter(bool flagged, bool has_default) {
    const operand target = pop();
    const operand other = flagged || has_default ? pop() : nullptr;
    operand rest = has_default ? pop() : nullptr;
    const operand flags = flagged ? pop() : nullptr;
    const operand at = pop();
    const operand a = pop();
    vector* made = nullptr;
    if (rest != nullptr && rest->references == 1) {
      made = rest.release();
    } else {
      made = make(kind_for<T>, target->total);
      const std::size_t bytes = static_cast<std::size_t>(target->total) * sizeof(T);
      if (rest != nullptr) {
        std::memcpy(made->as<T>(), rest->as<T>(), bytes);
      } else if (flagged) {
        std::memset(made->as<T>(), 0, bytes);
      }
    }
    const T* in = a->as<T>();
    const int32_t* index = at->as<int32_t>();
    const uint8_t* flag = flagged ? flags->as<uint8_t>() : nullptr;
    T* out = made->as<T>();
    vector* const source = other != nullptr ? other.get() : target.get();
    for (int32_t j = 0; j < source->length; ++j) {
      const int32_t count = source->as<int32_t>()[j];
      if (flagged) {
        for (int32_t k = 0; k < count; ++k) {
          if (flag[k] != 0) out[index[k]] = in[k];
        }
        flag += count;
      } else {
        for (int32_t k = 0; k < count; ++k) out[index[k]] = in[k];
      }
      in += count;
      index += count;
      out += target->as<int32_t>()[j];
    }
    push(made);
  }

  template <class T>
  void gather(bool flagged) {
    const operand target = pop();
    const operand source = pop();
    const operand flags = flagged ? pop() : nullptr;
    const operand at = pop();
    const operand a = pop();
    vector* const made = make(kind_for<T>, target->total);
    const T* in = a->as<T>();
    const int32_t* index = at->as<int32_t>();
    const uint8_t* flag = flagged ? flags->as<uint8_t>() : nullptr;
    T* out = made->as<T>();
    for (int32_t j = 0; j < target->length; ++j) {
      const int32_t count = target->as<int32_t>()[j];
      if (flagged) {
        for (int32_t k = 0; k < count; ++k) out[k] = flag[k] != 0 ? in[index[k]] : T{};
        flag += count;
      } else {
        for (int32_t k = 0; k < count; ++k) out[k] = in[index[k]];
      }
      in += source->as<int32_t>()[j];
      index += count;
      out += count;
    }
    push(made);
  }

  template <class T>
  void extract() {
    const operand s = pop();
    const operand at = pop();
    const operand a = pop();
    vector* const made = make(kind_for<T>, s->length);
    const T* in = a->as<T>();
    for (int32_t j = 0; j < s->length; ++j) {
      made->as<T>()[j] = in[at->as<int32_t>()[j]];
      in += s->as<int32_t>()[j];
    }
    push(made);
  }

  template <class T>
  void replace() {
    const operand s = pop();
    const operand values = pop();
    const operand at = pop();
    const operand a = pop();
    vector* const made = place_for<T>(a.get());
    if (made != a.get()) {
      std::memcpy(made->as<T>(), a->as<T>(), static_cast<std::size_t>(a->length) * sizeof(T));
    }
    T* out = made->as<T>();
    for (int32_t j = 0; j < s->length; ++j) {
      out[at->as<int32_t>()[j]] = values->as<T>()[j];
      out += s->as<int32_t>()[j];
    }
    push(made);
  }

  template <class T>
  void dist() {
    const operand s = pop();
    const operand a = pop();
    vector* const made = make(kind_for<T>, s->total);
    T* out = made->as<T>();
    for (int32_t j = 0; j < s->length; ++j) {
      const T value = a->as<T>()[j];
      const int32_t count = s->as<int32_t>()[j];
      for (int32_t k = 0; k < count; ++k) out[k] = value;
      out += count;
    }
    push(made);
  }

  void index() {
    const operand s = pop();
    const operand strides = pop();
    const operand starts = pop();
    vector* const made = make(kind::integer, s->total);
    int32_t* out = made->as<int32_t>();
    for (int32_t j = 0; j < s->length; ++j) {
      auto value = static_cast<std::uint32_t>(starts->as<int32_t>()[j]);
      const auto stride = static_cast<std::uint32_t>(strides->as<int32_t>()[j]);
      const int32_t count = s->as<int32_t>()[j];
      for (int32_t k = 0; k < count; ++k, value += stride) out[k] = static_cast<int32_t>(value);
      out += count;
    }
    push(made);
  }

  template <class T>
  void pack() {
    const operand s = pop();
    const operand flags = pop();
    const operand a = pop();
    vector* const lengths = make(kind::segdes, s->length);
    const uint8_t* flag = flags->as<uint8_t>();
    for (int32_t j = 0; j < s->length; ++j) {
      int32_t found = 0;
      for (int32_t k = 0; k < s->as<int32_t>()[j]; ++k) found += *flag++;
      lengths->as<int32_t>()[j] = found;
      lengths->total += found;
    }
    vector* const made = make(kind_for<T>, lengths->total);
    T* out = made->as<T>();
    for (int32_t k = 0; k < a->length; ++k) {
      if (flags->as<uint8_t>()[k] != 0) *out++ = a->as<T>()[k];
    }
    push(made);
    push(lengths);
  }

  void make_segdes() {
    const operand a = pop();
    vector* const made = place_for<int32_t>(a.get());
    std::uint32_t total = 0;
    for (int32_t j = 0; j < a->length; ++j) {
      made->as<int32_t>()[j] = a->as<int32_t>()[j];
      total += static_cast<std::uint32_t>(a->as<int32_t>()[j]);
    }
    made->type = kind::segdes;
    made->total = static_cast<int32_t>(total);
    push(made);
  }

  const vcode::program_data& data_;
  std::vector<vector*> stack_;
};

}  // namespace

void run_plainly(const vcode::program& code, std::FILE* to) {
  interpreter machine(code.data());
  if (machine.run()) machine.print(to);
}

}  // namespace tutti::bench
