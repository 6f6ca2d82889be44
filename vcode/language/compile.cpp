// SPDX-License-Identifier: Apache-2.0
// Compiles text to a verified program.
#include <fmt/format.h>

#include "vcode/language/parser.hpp"
#include "vcode/language/program.hpp"
#include "vcode/language/verifier.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {

source_error::source_error(const std::string& file, std::size_t line, std::size_t column,
                           const std::string& sentence)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, line, column, sentence)),
      line_(line),
      column_(column) {}

program compile(std::string_view text, std::string file) {
  auto data = std::make_shared<program_data>(parse(text, std::move(file)));
  verify(*data);
  return program(std::move(data));
}

const std::vector<std::string>& program::warnings() const noexcept { return data_->warnings; }

std::string program::inputs() const {
  return to_text(data_->functions[data_->entry].effect.inputs);
}

void require_no_inputs(const program& code) {
  const program_data& data = code.data();
  const function& entry = data.functions[data.entry];
  if (entry.effect.inputs.empty()) return;
  const instruction& at = data.code[entry.effect.first_reach];
  throw source_error(data.file, at.where.line, at.where.column,
                     fmt::format("{} in {}: takes values that are not there; the stack is empty "
                                 "when the program begins",
                                 info(at.code).name, entry.name));
}

}  // namespace tutti::vcode
