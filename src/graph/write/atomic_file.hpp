// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all.
#pragma once

#include <ios>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

namespace tutti::graph {

// Writes to a descriptor; failures are exceptions, not states, so that nobody has to ask.
class descriptor_buffer : public std::streambuf {
 public:
  descriptor_buffer(int file, const std::string& path);
  void drain();  // everything out; throws file_error

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
  // Beside `path`, or `path` itself if that is a pipe or a device. Throws file_error.
  explicit atomic_file(std::string path);
  // What is not committed leaves no trace.
  ~atomic_file();
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  std::ostream& stream() noexcept { return stream_; }
  // Throws file_error, the file at `path` being what it was.
  void commit();

 private:
  int open_file();

  std::string path_;
  std::string target_;     // what is replaced
  std::string temporary_;  // empty: written directly
  int file_;
  descriptor_buffer buffer_;
  std::ostream stream_;
};

}  // namespace tutti::graph
