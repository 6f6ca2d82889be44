// SPDX-License-Identifier: Apache-2.0
// The streams of a program: small numbers that stand for open files and pipes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "vcode/language/instructions.hpp"
#include "vcode/language/kind.hpp"

namespace tutti::vcode {

// The result of a stream instruction: vectors, and the text of an error, which is empty on success.
struct stream_result {
  // INT elements, character codes, or lengths of segments.
  std::vector<std::int32_t> integers;
  std::vector<double> reals;
  std::vector<std::uint8_t> booleans;
  // Stream numbers, or the status of FREAD_CHAR in number[0].
  std::int32_t number[3] = {-1, -1, -1};
  std::string error;
  // The input has more elements than the reader may collect; the vectors are then incomplete.
  bool is_too_long = false;
};

class file_table {
 public:
  file_table(std::FILE* input, std::FILE* output, std::FILE* error);
  ~file_table();
  file_table(const file_table&) = delete;
  file_table& operator=(const file_table&) = delete;

  // Returns null if no stream has this number.
  std::FILE* find(std::int32_t number) const;

  stream_result open(const std::string& name, std::int32_t mode);
  stream_result close(std::int32_t number);
  // Reads a vector of at most `largest` elements in the form in which WRITE prints it and stops
  // right behind it.
  static stream_result read(std::FILE* from, kind type, std::size_t largest);
  static stream_result write(std::FILE* to, kind type, const void* elements, std::size_t count);
  static stream_result read_characters(std::FILE* from, const std::vector<std::int32_t>& delimiters,
                                       std::int32_t most, std::size_t largest);
  // `streams` are the child's standard input, output and error; -1 asks for a pipe to that stream.
  stream_result spawn(const std::string& command, const std::int32_t (&streams)[3]);

  // The result of the last instruction, where the other threads read it.
  stream_result last;

 private:
  std::int32_t add(std::FILE* stream);
  void flush_all() const;

  std::vector<std::FILE*> streams_;
  std::vector<pid_t> children_;
};

}  // namespace tutti::vcode
