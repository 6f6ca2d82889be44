// SPDX-License-Identifier: Apache-2.0
// The file of the centres.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {

// Made before the long computation, so that a place where nothing can be written is reported at
// once. It writes to a new file beside `file`, which write() renames when it is complete. Before
// that, and after an error, `file` is unchanged.
class centre_file {
 public:
  // Throws std::runtime_error with one sentence that names the file.
  explicit centre_file(const std::filesystem::path& file);
  ~centre_file();
  centre_file(const centre_file&) = delete;
  centre_file& operator=(const centre_file&) = delete;

  // Writes one line per centre: position in the stream, weight, coordinates. Each number reads back
  // as the same number.
  void write(const clustering& found);

 private:
  [[noreturn]] void fail(const std::string& what) const;

  const std::filesystem::path file_;
  std::string temporary_;
  std::FILE* stream_ = nullptr;
};

}  // namespace tutti::streamcluster
