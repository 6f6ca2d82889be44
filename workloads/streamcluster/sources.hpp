// SPDX-License-Identifier: Apache-2.0
// Sources of points. They give one point after another, each a row of finite floats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "tutti/platform/interface_base.hpp"

namespace tutti::streamcluster {

class source : public interface_base {
 public:
  // At least 1, and known before the first point is read.
  virtual std::size_t dimensions() const = 0;
  // Reads the next point into `point`, which has dimensions() entries. Returns false at the end.
  // Throws std::runtime_error.
  virtual bool next(std::span<float> point) = 0;
};

// `count` points with independent, uniform coordinates in [0, 1), as in the original's inputs. The
// same seed gives the same points everywhere.
std::unique_ptr<source> generate(std::uint64_t count, std::size_t dimensions, std::uint64_t seed);

// The rows of a matrix in memory, which must outlive the source. Throws std::invalid_argument if
// the matrix's size is not a multiple of `dimensions`.
std::unique_ptr<source> rows(std::span<const float> matrix, std::size_t dimensions);

enum class file_format {
  // npy by its first bytes, raw by the suffix .bin, .raw or .f32, otherwise text.
  automatic,
  // One point per line, numbers separated by blanks or commas. Empty lines and lines that begin
  // with # are skipped.
  text,
  // NumPy's format: a matrix of float32 or float64 in C order.
  npy,
  // Numbers only, little-endian float32, as the original reads; needs `dimensions`.
  raw,
};

// Opens a file. Every error is a std::runtime_error with one sentence that names the file, the line
// (text) or the point (binary, from 1), and the column. Errors are: no points, rows of different
// lengths, text that is not a number, numbers that are not finite or too large for a float, a
// header that is not understood, and a size that does not match the header. `dimensions` is
// required for raw files; for others it is 0 or the required number.
std::unique_ptr<source> open_points(const std::filesystem::path& file,
                                    file_format format = file_format::automatic,
                                    std::size_t dimensions = 0);

}  // namespace tutti::streamcluster
