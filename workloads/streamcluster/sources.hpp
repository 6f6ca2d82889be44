// SPDX-License-Identifier: Apache-2.0
// Where points come from: one after the other, each a row of finite floats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace tutti::streamcluster {

class source {
 public:
  source() = default;
  virtual ~source() = default;
  source(const source&) = delete;
  source& operator=(const source&) = delete;

  // At least 1, and known before the first point is read.
  virtual std::size_t dimensions() const = 0;
  // Reads the next point into `point`, dimensions() long; false at the end. Throws std::runtime_error.
  virtual bool next(std::span<float> point) = 0;
};

// `count` points with coordinates in [0, 1), independent and uniform, as the original's inputs are; the same for the
// same seed everywhere.
std::unique_ptr<source> generate(std::uint64_t count, std::size_t dimensions, std::uint64_t seed);

// Rows of a matrix in memory, which must outlive it. Throws std::invalid_argument if its size is no multiple of
// `dimensions`.
std::unique_ptr<source> rows(std::span<const float> matrix, std::size_t dimensions);

enum class file_format {
  automatic,  // npy by its first bytes, raw by the suffix .bin, .raw or .f32, or text
  text,  // a point a line, numbers separated by blanks or commas; empty lines and those that begin with # are not read
  npy,   // NumPy's: a matrix of float32 or float64 in C order
  raw,   // float32, little-endian, nothing else: as the original reads; needs `dimensions`
};

// Opens a file. Every error is a std::runtime_error in one sentence that names the file, and the line (text) or the
// point (binary, from 1) and the column: no points, rows of different lengths, a number that is none, not finite or
// beyond a float, a header that is not understood, a size that does not fit the header. `dimensions` is needed for
// raw files; for others 0, or what must be found.
std::unique_ptr<source> open_points(const std::filesystem::path& file,
                                    file_format format = file_format::automatic,
                                    std::size_t dimensions = 0);

}  // namespace tutti::streamcluster
