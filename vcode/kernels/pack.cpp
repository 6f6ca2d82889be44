// SPDX-License-Identifier: Apache-2.0
// PACK kernels: compress and store one vector register at a time; the next store overwrites the
// excess.
#include "vcode/kernels/pack.hpp"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vcode/kernels/pack.cpp"
#include "vcode/kernels/targets.hpp"
// Highway includes this file once for each target.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "vcode/kernels/vector_unit.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::vcode::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

std::size_t count_of_flags(const std::uint8_t* flags, std::size_t count) {
  const hn::ScalableTag<std::uint8_t> bytes;
  const hn::Repartition<std::uint64_t, decltype(bytes)> sums;
  auto sum = hn::Zero(sums);
  std::size_t k = 0;
  for (; k + hn::Lanes(bytes) <= count; k += hn::Lanes(bytes)) {
    sum = hn::Add(sum, hn::SumsOf8(hn::LoadU(bytes, flags + k)));
  }
  std::size_t found = hn::GetLane(hn::SumOfLanes(sums, sum));
  for (; k < count; ++k) found += flags[k];
  return found;
}

// Packs without a branch for each element.
template <class T>
void pack_each(const T* from, const std::uint8_t* flags, std::size_t count, T* to, const T* end) {
  for (std::size_t k = 0; k < count && to != end; ++k) {
    *to = from[k];
    to += flags[k];
  }
}

#if HWY_TARGET == HWY_AVX2
// By the flags of eight words, one bit each, or of four pairs of words: the places of the words
// that stay, in their order.
template <std::size_t element_size>
constexpr auto make_word_places() {
  constexpr std::size_t words = element_size / 4, elements = 8 / words;
  std::array<std::array<std::uint8_t, 8>, (1 << elements)> made{};
  for (std::size_t flags = 0; flags < made.size(); ++flags)
    for (std::size_t element = 0, next = 0; element < elements; ++element)
      for (std::size_t word = 0; word < words && (flags >> element & 1) != 0; ++word)
        made[flags][next++] = static_cast<std::uint8_t>(element * words + word);
  return made;
}
template <std::size_t element_size>
constexpr auto word_places = make_word_places<element_size>();
#endif

// Converts the flags of `lanes` elements to one bit each.
void to_bits(const std::uint8_t* flags, std::size_t lanes, std::uint8_t* bits) {
  for (std::size_t k = 0; k < lanes; k += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, flags + k, lanes < 8 ? lanes : 8);
    // Byte i is 0 or 1; the product moves it to bit 56 + i.
    bits[k / 8] = static_cast<std::uint8_t>(eight * 0x0102040810204080U >> 56);
  }
}

// Stores the flagged elements of one vector side by side, and returns their number. What is behind
// them up to the vector's length is overwritten.
template <class D, class T = hn::TFromD<D>>
std::size_t pack_vector(D d, const T* from, const std::uint8_t* flags, T* to) {
  std::uint8_t bits[8] = {};
  to_bits(flags, hn::Lanes(d), bits);
  const auto all = hn::LoadU(d, from);
#if HWY_TARGET == HWY_AVX2
  // g++ 12 copies the table of hn::CompressStore, a kilobyte, to the stack for each vector.
  const hn::Repartition<std::uint32_t, D> words;
  const hn::Rebind<std::uint8_t, decltype(words)> bytes;
  const auto from_words =
      hn::PromoteTo(words, hn::LoadU(bytes, word_places<sizeof(T)>[bits[0]].data()));
  const auto packed =
      hn::TableLookupLanes(hn::BitCast(words, all), hn::IndicesFromVec(words, from_words));
  hn::StoreU(hn::BitCast(d, packed), d, to);
  return static_cast<std::size_t>(std::popcount(bits[0]));
#else
  return hn::CompressStore(all, hn::LoadMaskBits(d, bits), d, to);
#endif
}

template <class T>
void pack_vectors(const T* from, const std::uint8_t* flags, std::size_t count, T* to, T* end) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t k = 0;
  for (; k + lanes <= count && to + lanes <= end; k += lanes)
    to += pack_vector(d, from + k, flags + k, to);
  pack_each(from + k, flags + k, count - k, to, end);
}

void pack(std::size_t element_size, const void* from, const std::uint8_t* flags, std::size_t count,
          void* to, std::size_t room) {
  if (element_size == 8) {
    auto* const out = static_cast<std::uint64_t*>(to);
    pack_vectors(static_cast<const std::uint64_t*>(from), flags, count, out, out + room);
  } else if (element_size == 4) {
    auto* const out = static_cast<std::uint32_t*>(to);
    pack_vectors(static_cast<const std::uint32_t*>(from), flags, count, out, out + room);
  } else {
    auto* const out = static_cast<std::uint8_t*>(to);
    pack_each(static_cast<const std::uint8_t*>(from), flags, count, out, out + room);
  }
}

}  // namespace
}  // namespace tutti::vcode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::vcode {

TUTTI_VCODE_EXPORT(count_of_flags);
TUTTI_VCODE_EXPORT(pack);

std::size_t count_flags(const std::uint8_t* flags, std::size_t count) {
  return TUTTI_VCODE_CHOSEN(count_of_flags)(flags, count);
}
void pack_flagged(std::size_t element_size, const void* from, const std::uint8_t* flags,
                  std::size_t count, void* to, std::size_t room) {
  TUTTI_VCODE_CHOSEN(pack)(element_size, from, flags, count, to, room);
}

}  // namespace tutti::vcode
#endif
