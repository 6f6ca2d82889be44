// SPDX-License-Identifier: Apache-2.0
// Cuts the text of a program into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vcode/language/program.hpp"

namespace tutti::vcode {

enum class token_kind { integer, real, word, string, open, close, end };

struct token {
  token_kind kind = token_kind::end;
  // For a string: the text between the quotes.
  std::string_view text;
  place where;
};

class lexer {
 public:
  lexer(std::string_view text, std::string file, std::vector<std::string>& warnings)
      : rest_(text), file_(std::move(file)), warnings_(warnings) {}

  // Returns the next token; after the last one always `end`. Throws source_error.
  token next();

 private:
  void skip();
  void advance(std::size_t count);
  token word(place where);
  token string(place where);

  std::string_view rest_;
  std::string file_;
  std::vector<std::string>& warnings_;
  place at_;
};

}  // namespace tutti::vcode
