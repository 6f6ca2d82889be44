// SPDX-License-Identifier: Apache-2.0
// A file that appears completely or not at all.
#pragma once

#include <ios>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

namespace tutti::graph {

// Writes to a descriptor. Failures are exceptions rather than states, so callers need not check.
class descriptor_buffer : public std::streambuf {
 public:
  descriptor_buffer(int file, const std::string& path);
  // Writes everything out. Throws file_error.
  void drain();

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override;

 private:
  void write_out(const char* bytes, std::size_t count);

  int file_;
  const std::string& path_;
  std::vector<char> buffer_;
};

class atomic_file {
 public:
  // Opens a temporary file beside `path`, or `path` itself if that is a pipe or a device. Throws
  // file_error.
  explicit atomic_file(std::string path);
  // Removes the temporary file unless it was committed.
  ~atomic_file();
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  std::ostream& stream() noexcept { return stream_; }
  // Replaces the file at `path`. Throws file_error, and then the old file is unchanged.
  void commit();

 private:
  int open_file();

  std::string path_;
  // The file to be replaced.
  std::string target_;
  // Empty: the target is written directly.
  std::string temporary_;
  int file_;
  descriptor_buffer buffer_;
  std::ostream stream_;
};

}  // namespace tutti::graph
