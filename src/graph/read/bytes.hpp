// SPDX-License-Identifier: Apache-2.0
// The bytes of a file: mapped into memory, read if the file is a pipe, unpacked if it is
// compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::graph {

// One thread at a time uses it.
class file_bytes {
 public:
  // Throws file_error if the file does not exist, is a folder, or may not be read.
  explicit file_bytes(const std::string& path, std::uint64_t at_most);
  ~file_bytes();
  file_bytes(const file_bytes&) = delete;
  file_bytes& operator=(const file_bytes&) = delete;

  std::string_view view() const noexcept {
    return mapped_ != nullptr ? std::string_view(static_cast<const char*>(mapped_), size_) : read_;
  }

  // Takes the pages before `at` out of this process's memory; they are read again from the file if
  // they are needed again. Without effect if the file is not mapped.
  void forget_before(const char* at) const noexcept;

 private:
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string read_;
  // The pages before this position are forgotten.
  mutable std::size_t forgotten_ = 0;
};

bool is_compressed(std::string_view bytes) noexcept;

// Throws file_error if the stream is damaged or ends early, if it holds more than `at_most` bytes,
// or if tutti was built without zlib.
std::string unpacked(std::string_view bytes, const std::string& name, std::uint64_t at_most);

}  // namespace tutti::graph
