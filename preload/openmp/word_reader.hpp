// SPDX-License-Identifier: Apache-2.0
// Reads the value of an environment variable word by word.
#pragma once

#include <strings.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tutti::openmp {

// Takes a value apart, without the blanks around its words.
class word_reader {
 public:
  explicit word_reader(const char* at) : at_(at) { skip(); }
  bool is_at_end() const { return *at_ == '\0'; }
  bool take(char c) {
    if (*at_ != c) return false;
    ++at_;
    skip();
    return true;
  }
  bool take_word(const char* word) {
    const std::size_t size = std::strlen(word);
    const char after = at_[strnlen(at_, size)];
    return !std::isalnum(static_cast<unsigned char>(after)) && after != '_' && take_letters(word);
  }
  // Others may follow at once.
  bool take_letters(const char* letters) {
    const std::size_t size = std::strlen(letters);
    if (strncasecmp(at_, letters, size) != 0) return false;
    at_ += size;
    skip();
    return true;
  }
  bool take_number(unsigned long& value) {
    if (*at_ == '-') return false;
    return take_signed(reinterpret_cast<long&>(value));
  }
  bool take_signed(long& value) {
    char* end = nullptr;
    errno = 0;
    value = static_cast<long>(*at_ == '-' ? static_cast<unsigned long>(std::strtol(at_, &end, 10))
                                          : std::strtoul(at_, &end, 10));
    if (errno != 0 || end == at_) return false;
    at_ = end;
    skip();
    return true;
  }

 private:
  void skip() {
    while (std::isspace(static_cast<unsigned char>(*at_))) ++at_;
  }
  const char* at_;
};

}  // namespace tutti::openmp
