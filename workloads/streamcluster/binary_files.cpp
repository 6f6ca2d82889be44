// SPDX-License-Identifier: Apache-2.0
// Reads matrices of little-endian floating-point numbers: NumPy's files, and files of numbers only.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "workloads/streamcluster/files.hpp"

namespace tutti::streamcluster {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are read as they lie in the file");

// Reads `count` rows from the current position of `file`.
template <class Number>
class binary_source final : public source {
 public:
  binary_source(std::string name, std::ifstream file, std::uint64_t count, std::size_t dimensions)
      : name_(std::move(name)), file_(std::move(file)), count_(count), row_(dimensions) {}

  std::size_t dimensions() const override { return row_.size(); }

  bool next(std::span<float> point) override {
    if (at_ == count_) return false;
    ++at_;
    const auto bytes = static_cast<std::streamsize>(row_.size() * sizeof(Number));
    if (!file_.read(reinterpret_cast<char*>(row_.data()), bytes)) {
      fail_in(name_, "reading fails at point {} of {}", at_, count_);
    }
    for (std::size_t j = 0; j < row_.size(); ++j) {
      point[j] = static_cast<float>(row_[j]);
      if (std::isfinite(point[j])) continue;
      fail_in(name_, "point {}, column {}: {} is {}", at_, j + 1, row_[j],
              std::isfinite(row_[j]) ? "beyond the range of a float" : "not finite");
    }
    return true;
  }

 private:
  const std::string name_;
  std::ifstream file_;
  const std::uint64_t count_;
  std::vector<Number> row_;
  std::uint64_t at_ = 0;
};

struct npy_header {
  // "<f4" or "<f8".
  std::string type;
  std::uint64_t count;
  std::uint64_t dimensions;
};

constexpr std::string_view npy_magic("\x93NUMPY", 6);

// The text of the header, which is a Python dictionary.
std::string read_npy_text(const std::string& name, std::ifstream& file) {
  char start[8];
  if (!file.read(start, sizeof start) || std::string_view(start, npy_magic.size()) != npy_magic) {
    fail_in(name, "this is not a .npy file: it does not begin with \\x93NUMPY and a version");
  }
  const int version = start[6];
  if (version < 1 || version > 3) fail_in(name, "version {} of .npy is not known", version);
  std::uint32_t length = 0;
  if (!file.read(reinterpret_cast<char*>(&length), version == 1 ? 2 : 4)) {
    fail_in(name, "the file ends within the header");
  }
  if (length > 65536) fail_in(name, "a header of {} bytes cannot be right", length);
  std::string text(length, '\0');
  if (!file.read(text.data(), length)) fail_in(name, "the file ends within the header");
  return text;
}

// The text that follows 'key': in the dictionary.
std::string_view value_of(const std::string& name, std::string_view text, std::string_view key) {
  const std::string quoted = fmt::format("'{}'", key);
  std::size_t at = text.find(quoted);
  if (at != std::string_view::npos) at = text.find_first_not_of(" :", at + quoted.size());
  if (at == std::string_view::npos) fail_in(name, "the header has no {}", quoted);
  return text.substr(at);
}

std::uint64_t parse_count(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return count;
}

npy_header parse_npy(const std::string& name, const std::string& text) {
  const std::string_view type = value_of(name, text, "descr").substr(0, 5);
  if (type != "'<f4'" && type != "'<f8'") {
    fail_in(name, "the numbers are of type {:.10}, not '<f4' or '<f8' (float32, float64)",
            value_of(name, text, "descr"));
  }
  if (!value_of(name, text, "fortran_order").starts_with("False")) {
    fail_in(name, "the matrix is in Fortran order; save numpy.ascontiguousarray(it)");
  }
  const std::string_view value = value_of(name, text, "shape");
  std::string_view shape = value.substr(0, value.find(')'));
  const std::string whole(shape);
  if (shape.starts_with('(')) shape.remove_prefix(1);
  const std::uint64_t count = parse_count(shape);
  const std::uint64_t dimensions = parse_count(shape);
  if (count == 0 || dimensions == 0 || shape.find_first_not_of(" ,") != std::string_view::npos) {
    fail_in(name, "the shape {}) is not the shape of a matrix of points", whole);
  }
  return {std::string(type.substr(1, 3)), count, dimensions};
}

std::uint64_t bytes_left(const std::string& name, std::ifstream& file) {
  const auto here = static_cast<std::uint64_t>(file.tellg());
  return std::filesystem::file_size(name) - here;
}

void expect_dimensions(const std::string& name, std::uint64_t found, std::size_t expected) {
  if (expected == 0 || found == expected) return;
  fail_in(name, "the points have {} coordinates, where {} are expected", found, expected);
}

}  // namespace

std::unique_ptr<source> open_npy(const std::string& file, std::size_t dimensions) {
  std::ifstream stream = open_for_reading(file);
  const npy_header header = parse_npy(file, read_npy_text(file, stream));
  expect_dimensions(file, header.dimensions, dimensions);
  const std::size_t number = header.type == "<f4" ? 4 : 8;
  const std::uint64_t left = bytes_left(file, stream);
  // The check divides, because a product of numbers in a header may overflow.
  if (left % number != 0 || left / number % header.dimensions != 0 ||
      left / number / header.dimensions != header.count) {
    fail_in(file,
            "{} bytes after the header do not match the {} x {} numbers of {} bytes that it names",
            left, header.count, header.dimensions, number);
  }
  const auto columns = static_cast<std::size_t>(header.dimensions);
  if (number == 4) {
    return std::make_unique<binary_source<float>>(file, std::move(stream), header.count, columns);
  }
  return std::make_unique<binary_source<double>>(file, std::move(stream), header.count, columns);
}

std::unique_ptr<source> open_raw(const std::string& file, std::size_t dimensions) {
  if (dimensions == 0) {
    fail_in(file, "a raw file does not say how many coordinates a point has; give the dimensions");
  }
  std::ifstream stream = open_for_reading(file);
  const std::uint64_t bytes = bytes_left(file, stream);
  if (bytes == 0) fail_in(file, "the file has no points");
  if (bytes % sizeof(float) != 0 || bytes / sizeof(float) % dimensions != 0) {
    fail_in(file, "{} bytes are not a whole number of points of {} float32", bytes, dimensions);
  }
  const std::uint64_t count = bytes / sizeof(float) / dimensions;
  return std::make_unique<binary_source<float>>(file, std::move(stream), count, dimensions);
}

}  // namespace tutti::streamcluster
