// SPDX-License-Identifier: Apache-2.0
// Points with weights in tiles (distance.hpp): a chunk of the stream, or the centres kept from
// earlier chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "workloads/streamcluster/distance.hpp"

namespace tutti::streamcluster {

// Memory that begins at a multiple of tile_alignment.
template <class T>
struct tile_allocator {
  using value_type = T;
  tile_allocator() = default;
  template <class U>
  explicit tile_allocator(const tile_allocator<U>&) noexcept {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(tile_alignment)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t(tile_alignment));
  }
  friend bool operator==(const tile_allocator&, const tile_allocator&) noexcept { return true; }
};

class point_set {
 public:
  explicit point_set(std::size_t dimensions) : dimensions_(dimensions) {}

  std::size_t size() const noexcept { return weights_.size(); }
  bool empty() const noexcept { return weights_.empty(); }
  std::size_t dimensions() const noexcept { return dimensions_; }
  std::size_t tiles() const noexcept { return (size() + tile_points - 1) / tile_points; }
  const float* tile(std::size_t t) const noexcept {
    return coordinates_.data() + t * tile_points * dimensions_;
  }

  double weight(std::size_t i) const noexcept { return weights_[i]; }
  double total_weight() const noexcept { return total_weight_; }
  // The position of the point in the stream.
  std::uint64_t position(std::size_t i) const noexcept { return positions_[i]; }
  float coordinate(std::size_t i, std::size_t j) const noexcept { return coordinates_[at(i, j)]; }
  void copy(std::size_t i, std::span<float> out) const noexcept {
    for (std::size_t j = 0; j < dimensions_; ++j) out[j] = coordinates_[at(i, j)];
  }

  void push(std::span<const float> point, double weight, std::uint64_t position) {
    const std::size_t i = size();
    if (i % tile_points == 0) coordinates_.resize(coordinates_.size() + tile_points * dimensions_);
    weights_.push_back(weight);
    total_weight_ += weight;
    positions_.push_back(position);
    for (std::size_t j = 0; j < dimensions_; ++j) coordinates_[at(i, j)] = point[j];
  }

  // Keeps the memory for the next chunk.
  void clear() noexcept {
    coordinates_.clear();
    weights_.clear();
    positions_.clear();
    total_weight_ = 0;
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const noexcept {
    return (i / tile_points * dimensions_ + j) * tile_points + i % tile_points;
  }

  std::size_t dimensions_;
  std::vector<float, tile_allocator<float>> coordinates_;
  std::vector<double> weights_;
  double total_weight_ = 0;
  std::vector<std::uint64_t> positions_;
};

}  // namespace tutti::streamcluster
