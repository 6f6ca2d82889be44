// SPDX-License-Identifier: Apache-2.0
// The streams of a program: numbers that stand for open files and pipes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "language/instructions.hpp"
#include "language/kind.hpp"

namespace tutti::vcode {

// What a stream instruction leaves: vectors, the text of an error (empty if all is well), and whether it is.
struct stream_result {
  std::vector<std::int32_t> integers;  // also characters, lengths of segments
  std::vector<double> reals;
  std::vector<std::uint8_t> booleans;
  std::int32_t number[3] = {-1, -1, -1};  // streams, or the status of FREAD_CHAR
  std::string error;
};

class file_table {
 public:
  file_table(std::FILE* input, std::FILE* output, std::FILE* error);
  ~file_table();
  file_table(const file_table&) = delete;
  file_table& operator=(const file_table&) = delete;

  // Null if no stream has this number.
  std::FILE* find(std::int32_t number) const;

  stream_result open(const std::string& name, std::int32_t mode);
  stream_result close(std::int32_t number);
  // A vector in the form in which WRITE prints it; stops right behind it.
  static stream_result read(std::FILE* from, kind type);
  static stream_result write(std::FILE* to, kind type, const void* elements, std::size_t count);
  static stream_result read_characters(std::FILE* from, const std::vector<std::int32_t>& delimiters,
                                       std::int32_t most);
  // streams: of the child's input, output and error output; -1 asks for a pipe to it.
  stream_result spawn(const std::string& command, const std::int32_t (&streams)[3]);

  // Of the last instruction: where other threads find it.
  stream_result last;

 private:
  std::int32_t add(std::FILE* stream);
  void flush_all() const;

  std::vector<std::FILE*> streams_;
  std::vector<pid_t> children_;
};

}  // namespace tutti::vcode
