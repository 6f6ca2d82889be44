// SPDX-License-Identifier: Apache-2.0
// The table of the functions for each type and operation.

#include "src/c_abi_operations.hpp"

#include <cstdint>

#include "tutti/reduce/operations.hpp"

namespace tutti::c_abi {

namespace {

template <class T>
T load(const std::byte* values, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, values + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store(std::byte* values, std::size_t i, T value) noexcept {
  std::memcpy(values + i * sizeof(T), &value, sizeof(T));
}

template <class T, class Op>
constexpr operation make() noexcept {
  if constexpr (!detail::combines<Op, T>) {
    return {};
  } else {
    operation made;
    made.size = sizeof(T);
    made.combine = [](std::byte* into, const std::byte* from, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        store(into, i, Op::of(load<T>(into, i), load<T>(from, i)));
    };
    made.fill_identity = [](std::byte* values, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) store(values, i, Op::template neutral<T>());
    };
    made.make_canonical = [](std::byte* values, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) store(values, i, canonical(load<T>(values, i)));
    };
    return made;
  }
}

// The entries have the order of tutti_operation.
template <class T>
constexpr std::array<operation, 9> operations_of() noexcept {
  return {make<T, detail::plus_kernel>(),        make<T, detail::multiplies_kernel>(),
          make<T, detail::minimum_kernel>(),     make<T, detail::maximum_kernel>(),
          make<T, detail::logical_and_kernel>(), make<T, detail::logical_or_kernel>(),
          make<T, detail::bit_and_kernel>(),     make<T, detail::bit_or_kernel>(),
          make<T, detail::bit_xor_kernel>()};
}

// The rows have the order of tutti_type.
constexpr std::array table = {operations_of<double>(), operations_of<float>(),
                              operations_of<std::int32_t>(), operations_of<std::int64_t>()};

}  // namespace

const operation* find_operation(int type, int op) noexcept {
  if (type < 0 || op < 0) return nullptr;
  const auto row = static_cast<std::size_t>(type), column = static_cast<std::size_t>(op);
  if (row >= table.size() || column >= table[row].size()) return nullptr;
  const operation& found = table[row][column];
  return found.combine == nullptr ? nullptr : &found;
}

}  // namespace tutti::c_abi
