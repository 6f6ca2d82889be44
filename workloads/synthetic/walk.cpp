// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "bench/harness/ticks.hpp"

namespace tutti::synthetic {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t words_a_line = line_bytes / sizeof(std::uint64_t);
constexpr std::size_t least_memory = std::size_t{64} << 20;

std::string first_word(const std::string& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// The bytes of a level's cache for data, as Linux describes it for CPU 0; 0 if it does not.
// sysconf() would tell those of a whole socket on some processors.
std::size_t cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    if (first_word(folder + "level") != std::to_string(level)) continue;
    if (first_word(folder + "type") == "Instruction") continue;
    const std::string size = first_word(folder + "size");
    std::size_t kilobytes = 0;
    std::from_chars(size.data(), size.data() + size.size(), kilobytes);
    return kilobytes << 10;
  }
  return 0;
}

std::size_t known_cache(int level) {
  const std::size_t bytes = cache_bytes(level);
  if (bytes == 0)
    throw std::invalid_argument(fmt::format(
        "--set: the system does not tell the size of cache level {}; give a number of bytes",
        level));
  return bytes;
}

std::size_t parse_bytes(const std::string& name) {
  std::size_t value = 0;
  const char* const last = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), last, value);
  const std::string unit(stop, last);
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  const bool is_number = error == std::errc() && (unit.empty() || shift != 0);
  if (!is_number || value < line_bytes >> shift || value == 0 || value > (SIZE_MAX >> 8) >> shift)
    throw std::invalid_argument(fmt::format(
        "--set: '{}' is not one of none, l1, l2, l3, memory, or bytes such as 256K, 64 or more",
        name));
  return value << shift;
}

}  // namespace

std::size_t set_bytes(const std::string& name, std::uint32_t ranks) {
  if (name == "none") return 0;
  if (name == "l1" || name == "l2") return known_cache(name[1] - '0') / 2;
  if (name == "l3") return known_cache(3) / 2 / ranks;
  if (name != "memory") return parse_bytes(name);
  const std::size_t last = std::max({cache_bytes(1), cache_bytes(2), cache_bytes(3)});
  return std::max(4 * last / ranks, least_memory);
}

walk::walk(team& owners, const walk_shape& shape)
    : shape_(shape),
      line_bits_(static_cast<unsigned>(
          std::bit_width(std::max<std::size_t>(shape.bytes / line_bytes, 1)) - 1)),
      sets_(owners, words_a_line << line_bits_),
      marches_(owners.size()) {}

void walk::enter(rank_t rank) {
  march& mine = marches_[rank].value;
  std::uint64_t* const words = sets_[rank].data();
  const std::uint64_t begin = bench::ordered_ticks();
  std::uint64_t place = mine.place, sum = mine.sum;
  const std::uint64_t mask = (std::uint64_t{1} << line_bits_) - 1;
  for (std::uint64_t i = 0; i < shape_.lines; ++i) {
    // Knuth's generator modulo 2^64, whose upper bits are the better ones.
    place = shape_.at_random ? place * 6364136223846793005u + 1442695040888963407u : place + 1;
    const std::uint64_t line = (shape_.at_random ? place >> 24 : place) & mask;
    sum += words[line * words_a_line]++;
  }
  mine.place = place;
  mine.sum = sum;
  mine.ticks = bench::ordered_ticks() - begin;
}

std::uint64_t walk::longest() const {
  std::uint64_t most = 0;
  for (rank_t rank = 0; rank < sets_.size(); ++rank)
    most = std::max(most, marches_[rank].value.ticks);
  return most;
}

}  // namespace tutti::synthetic
