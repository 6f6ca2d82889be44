// SPDX-License-Identifier: Apache-2.0
// Loops over indices and lengths, compiled for each Highway target in targets.hpp.
#include "vcode/kernels/moves.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vcode/kernels/moves.cpp"
#include "vcode/kernels/targets.hpp"
// Highway includes this file once for each target.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "vcode/kernels/vector_unit.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::vcode::HWY_NAMESPACE {
namespace {

template <class T>
void gather_as(const void* from, const std::int32_t* index, void* to, std::size_t count) {
  const T* const in = static_cast<const T*>(from);
  T* const out = static_cast<T*>(to);
  std::size_t k = 0;
  // All loads of a group come before its stores, which might lie at the same places.
  for (; k + 4 <= count; k += 4) {
    const T a = in[index[k]];
    const T b = in[index[k + 1]];
    const T c = in[index[k + 2]];
    const T d = in[index[k + 3]];
    out[k] = a;
    out[k + 1] = b;
    out[k + 2] = c;
    out[k + 3] = d;
  }
  for (; k < count; ++k) out[k] = in[index[k]];
}

void gather(std::size_t size, const void* from, const std::int32_t* index, void* to,
            std::size_t count) {
  if (size == 8) return gather_as<std::uint64_t>(from, index, to, count);
  if (size == 4) return gather_as<std::uint32_t>(from, index, to, count);
  gather_as<std::uint8_t>(from, index, to, count);
}

template <class T>
void scatter_as(const void* from, const std::int32_t* index, void* to, std::size_t count) {
  const T* const in = static_cast<const T*>(from);
  T* const out = static_cast<T*>(to);
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const T a = in[k];
    const T b = in[k + 1];
    const T c = in[k + 2];
    const T d = in[k + 3];
    out[index[k]] = a;
    out[index[k + 1]] = b;
    out[index[k + 2]] = c;
    out[index[k + 3]] = d;
  }
  for (; k < count; ++k) out[index[k]] = in[k];
}

void scatter(std::size_t size, const void* from, const std::int32_t* index, void* to,
             std::size_t count) {
  if (size == 8) return scatter_as<std::uint64_t>(from, index, to, count);
  if (size == 4) return scatter_as<std::uint32_t>(from, index, to, count);
  scatter_as<std::uint8_t>(from, index, to, count);
}

lengths_summary summary_of(const std::int32_t* lengths, std::size_t count) {
  lengths_summary made;
  made.shortest = std::numeric_limits<std::int32_t>::max();
  for (std::size_t j = 0; j < count; ++j) {
    made.total += lengths[j];
    made.signs |= lengths[j];
    made.longest = std::max(made.longest, lengths[j]);
    made.shortest = std::min(made.shortest, lengths[j]);
  }
  return made;
}

std::int32_t offsets_of(const std::int32_t* lengths, std::size_t count, std::int32_t first,
                        std::int32_t* offsets) {
  std::int32_t at = first;
  std::size_t j = 0;
  // Four at a time, so that only one addition of four waits for the one before it.
  for (; j + 4 <= count; j += 4) {
    const std::int32_t one = lengths[j];
    const std::int32_t two = one + lengths[j + 1];
    const std::int32_t three = two + lengths[j + 2];
    const std::int32_t four = three + lengths[j + 3];
    offsets[j] = at;
    offsets[j + 1] = at + one;
    offsets[j + 2] = at + two;
    offsets[j + 3] = at + three;
    at += four;
  }
  for (; j < count; ++j) {
    offsets[j] = at;
    at += lengths[j];
  }
  return at;
}

}  // namespace
}  // namespace tutti::vcode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::vcode {

TUTTI_VCODE_EXPORT(gather);
TUTTI_VCODE_EXPORT(scatter);
TUTTI_VCODE_EXPORT(summary_of);
TUTTI_VCODE_EXPORT(offsets_of);

void gather_elements(std::size_t element_size, const void* from, const std::int32_t* index,
                     void* to, std::size_t count) {
  TUTTI_VCODE_CHOSEN(gather)(element_size, from, index, to, count);
}
void scatter_elements(std::size_t element_size, const void* from, const std::int32_t* index,
                      void* to, std::size_t count) {
  TUTTI_VCODE_CHOSEN(scatter)(element_size, from, index, to, count);
}
lengths_summary summarize_lengths(const std::int32_t* lengths, std::size_t count) {
  return TUTTI_VCODE_CHOSEN(summary_of)(lengths, count);
}
std::int32_t write_offsets(const std::int32_t* lengths, std::size_t count, std::int32_t first,
                           std::int32_t* offsets) {
  return TUTTI_VCODE_CHOSEN(offsets_of)(lengths, count, first, offsets);
}

}  // namespace tutti::vcode
#endif
