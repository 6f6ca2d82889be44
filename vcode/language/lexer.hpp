// SPDX-License-Identifier: Apache-2.0
// Cuts the text of a program into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/program.hpp"

namespace tutti::vcode {

enum class token_kind { integer, real, word, string, open, close, end };

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;  // of a string: between the quotes
  place where;
};

class lexer {
 public:
  lexer(std::string_view text, std::string file, std::vector<std::string>& warnings)
      : rest_(text), file_(std::move(file)), warnings_(warnings) {}

  // Throws source_error. After the last token: `end`, again and again.
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
