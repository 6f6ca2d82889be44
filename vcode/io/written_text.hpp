// SPDX-License-Identifier: Apache-2.0
// A stream in memory for the output of a program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

namespace tutti::vcode {

// What is written to a stream.
class written_text {
 public:
  // Throws std::bad_alloc.
  written_text() : stream_(open_memstream(&text_, &bytes_)) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~written_text() {
    std::fclose(stream_);
    std::free(text_);
  }
  written_text(const written_text&) = delete;
  written_text& operator=(const written_text&) = delete;
  std::FILE* stream() const { return stream_; }
  std::string text() const {
    std::fflush(stream_);
    return {text_, bytes_};
  }

 private:
  char* text_ = nullptr;
  std::size_t bytes_ = 0;
  std::FILE* stream_;
};

}  // namespace tutti::vcode
