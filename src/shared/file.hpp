// SPDX-License-Identifier: Apache-2.0
// Files of /dev/shm, by whose names processes find a barrier.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

// The memory of a file in this process. All objects of the process that use the file share it, so a
// barrier has one address there, by which ThreadSanitizer knows that its threads meet.
class mapping {
 public:
  mapping() = default;
  mapping(const descriptor& file, std::size_t bytes, const std::string& what);
  void* base() const noexcept { return pages_.get(); }
  // Keeps the memory mapped until the process ends.
  void keep();

 private:
  std::shared_ptr<void> pages_;
};

// Makes a file with a complete barrier and then gives it its name, so that nobody finds half a
// barrier. Returns nothing if the name is in use.
std::optional<mapping> create_file(std::string_view name, rank_t participants,
                                   const shared_barrier_options& options);

int open_file(const std::string& path);

// Fails unless there is a barrier in the file.
mapping map_file(const descriptor& file, const std::string& what);

// Removes the name if it still names this file, so that nobody removes the successor of the barrier
// that it has seen. Fails if the system forbids it: the name still names this file then.
void unlink_file(const descriptor& file, const std::string& path, const std::string& what);

}  // namespace tutti::detail::shared
