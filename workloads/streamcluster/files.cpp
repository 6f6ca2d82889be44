// SPDX-License-Identifier: Apache-2.0
// open_points() chooses the reader of a file; sources.hpp says how. The readers are in
// text_file.cpp and binary_files.cpp.
#include "workloads/streamcluster/files.hpp"

#include <cerrno>
#include <cstring>

namespace tutti::streamcluster {
namespace {

file_format format_of(const std::filesystem::path& file) {
  char first = 0;
  open_for_reading(file.string()).get(first);
  // NumPy's files begin with this byte and "NUMPY".
  if (first == '\x93' || file.extension() == ".npy") return file_format::npy;
  const std::string suffix = file.extension().string();
  if (suffix == ".bin" || suffix == ".raw" || suffix == ".f32") return file_format::raw;
  return file_format::text;
}

}  // namespace

std::ifstream open_for_reading(const std::string& file) {
  if (std::filesystem::is_directory(file)) fail_in(file, "this is a directory");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    fail_in(file, "cannot be read: {}", errno != 0 ? std::strerror(errno) : "unknown reason");
  }
  return stream;
}

std::unique_ptr<source> open_points(const std::filesystem::path& file, file_format format,
                                    std::size_t dimensions) {
  if (format == file_format::automatic) format = format_of(file);
  const std::string name = file.string();
  if (format == file_format::npy) return open_npy(name, dimensions);
  if (format == file_format::raw) return open_raw(name, dimensions);
  return open_text(name, dimensions);
}

}  // namespace tutti::streamcluster
