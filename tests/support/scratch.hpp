// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, which is removed with its contents.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti::test {

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return bytes.str();
}

class scratch {
 public:
  scratch() {
    std::string name = std::filesystem::temp_directory_path() / "tutti.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(std::string_view name) const { return folder_ / name; }

  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  std::string read(std::string_view name) const { return bytes_of(path(name)); }

  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace tutti::test
