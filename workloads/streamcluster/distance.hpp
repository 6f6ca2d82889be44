// SPDX-License-Identifier: Apache-2.0
// Squared Euclidean distances of a tile of points from one point. Apart from waiting, the program
// spends most of its time here.
#pragma once

#include <cstddef>

namespace tutti::streamcluster {

// The points of a tile. A tile is stored dimension by dimension: 64 first coordinates, 64 second
// ones, and so on. A vector of any width then holds as many points, each point sums its dimensions
// in their order, and the bits do not depend on the width.
inline constexpr std::size_t tile_points = 64;
// Bytes.
inline constexpr std::size_t tile_alignment = 64;

// Computes out[i] = sum over j of (tile[j * 64 + i] - point[j])^2 in float. `tile` and `out` must
// be aligned to tile_alignment.
void squared_distances(const float* tile, std::size_t dimensions, const float* point,
                       float* out) noexcept;

// The instruction set chosen for this machine, for example AVX3.
const char* distance_instructions() noexcept;

}  // namespace tutti::streamcluster
