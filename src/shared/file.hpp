// SPDX-License-Identifier: Apache-2.0
// Files of /dev/shm, by whose names processes find a barrier.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/shared/errors.hpp"
#include "tutti/barrier/shared.hpp"

namespace tutti::detail::shared {

// Refuses what is no name.
std::string path_of(std::string_view name);

// What sentences call the barrier.
inline std::string text_of(std::string_view name) {
  return "the barrier '" + std::string(name) + "'";
}

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

// The memory of a file in this process.
class mapping {
 public:
  mapping() = default;
  mapping(int file, std::size_t bytes, const std::string& what) : bytes_(bytes) {
    base_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base_ == MAP_FAILED) fail_by_system("mapping " + what);
  }
  ~mapping() {
    if (bytes_ > 0) munmap(base_, bytes_);
  }
  mapping(mapping&& other) noexcept : base_(other.base_), bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&&) = delete;
  void* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Makes a file with a complete barrier and then gives it its name, so that nobody finds half a
// barrier. Returns nothing if the name is in use.
std::optional<mapping> create_file(std::string_view name, rank_t participants,
                                   const shared_barrier_options& options);

int open_file(const std::string& path);

// Fails unless there is a barrier for `participants` in the file.
mapping map_file(const descriptor& file, rank_t participants, const std::string& what);

// Removes the name if it still names this file, so that nobody removes the successor of the barrier
// that it has seen.
void unlink_file(const descriptor& file, const std::string& path);

}  // namespace tutti::detail::shared
