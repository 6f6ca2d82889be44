// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/operations.hpp"

#include <complex>
#include <cstring>
#include <type_traits>

namespace tutti::preload {
namespace {

// Values lie at any address that is aligned for bytes, because a program's buffer may be so too.
template <class T, class Op>
void apply(void* left, const void* right, std::size_t count) noexcept {
  auto* to = static_cast<char*>(left);
  const auto* from = static_cast<const char*>(right);
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, to + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    a = Op{}(a, b);
    std::memcpy(to + i * sizeof(T), &a, sizeof(T));
  }
}

// The unsigned type in which integers are added and multiplied, so that an overflow wraps around.
template <class T>
struct wrapping {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct wrapping<T> {
  using type =
      std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
};
template <class T>
using wrapping_t = typename wrapping<T>::type;

struct sum {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
  }
};
struct product {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
  }
};
struct maximum {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return a > b ? a : b;
  }
};
struct minimum {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return a < b ? a : b;
  }
};
struct logical_and {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a != T{} && b != T{});
  }
};
struct logical_or {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a != T{} || b != T{});
  }
};
struct logical_xor {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>((a != T{}) != (b != T{}));
  }
};
struct bit_and {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a & b);
  }
};
struct bit_or {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a | b);
  }
};
struct bit_xor {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a ^ b);
  }
};

// The combination by the struct at the place of `op` in the list, whose first one stands for
// `first` and the others for the operations after it; null if there is none.
template <class T, class... Op>
combine among(operation op, operation first) noexcept {
  constexpr combine all[] = {apply<T, Op>...};
  const auto place = static_cast<std::size_t>(op) - static_cast<std::size_t>(first);
  return place < sizeof...(Op) ? all[place] : nullptr;
}
template <class T>
combine of_ordered(operation op) noexcept {
  return among<T, maximum, minimum>(op, operation::max);
}
template <class T>
combine of_ring(operation op) noexcept {
  return among<T, sum, product>(op, operation::sum);
}
template <class T>
combine of_logical(operation op) noexcept {
  return among<T, logical_and, logical_or, logical_xor>(op, operation::logical_and);
}
template <class T>
combine of_bits(operation op) noexcept {
  return among<T, bit_and, bit_or, bit_xor>(op, operation::bit_and);
}

combine first_of(combine a, combine b, combine c = nullptr, combine d = nullptr) noexcept {
  return a != nullptr ? a : b != nullptr ? b : c != nullptr ? c : d;
}
template <class T>
combine of_integer(operation op) noexcept {
  return first_of(of_ordered<T>(op), of_ring<T>(op), of_logical<T>(op), of_bits<T>(op));
}
template <class T>
combine of_real(operation op) noexcept {
  return first_of(of_ordered<T>(op), of_ring<T>(op));
}

}  // namespace

combine find_combine(operation op, kind k) noexcept {
  switch (k) {
    case kind::i8: return of_integer<std::int8_t>(op);
    case kind::i16: return of_integer<std::int16_t>(op);
    case kind::i32: return of_integer<std::int32_t>(op);
    case kind::i64: return of_integer<std::int64_t>(op);
    case kind::u8: return of_integer<std::uint8_t>(op);
    case kind::u16: return of_integer<std::uint16_t>(op);
    case kind::u32: return of_integer<std::uint32_t>(op);
    case kind::u64: return of_integer<std::uint64_t>(op);
    case kind::f32: return of_real<float>(op);
    case kind::f64: return of_real<double>(op);
    case kind::extended: return of_real<long double>(op);
    case kind::c32: return of_ring<std::complex<float>>(op);
    case kind::c64: return of_ring<std::complex<double>>(op);
    case kind::boolean: return of_logical<std::uint8_t>(op);
    case kind::bytes: return of_bits<std::uint8_t>(op);
    case kind::text:
    case kind::none: break;
  }
  return nullptr;
}

std::size_t size_of(kind k) noexcept {
  switch (k) {
    case kind::i8:
    case kind::u8:
    case kind::boolean:
    case kind::bytes:
    case kind::text: return 1;
    case kind::i16:
    case kind::u16: return 2;
    case kind::i32:
    case kind::u32:
    case kind::f32: return 4;
    case kind::i64:
    case kind::u64:
    case kind::f64:
    case kind::c32: return 8;
    case kind::extended: return sizeof(long double);
    case kind::c64: return 16;
    case kind::none: break;
  }
  return 0;
}

}  // namespace tutti::preload
