// SPDX-License-Identifier: Apache-2.0
#include "kernel/programs/programs.hpp"

#include "kernel/core/panic.hpp"

namespace tutti::kernel {

namespace {
// What every program takes.
constexpr const char* common_words = "unit=instructions|emulated_ticks|cycles slice_us=N";

void refuse_unknown_words(const named_program& chosen, const char* command_line) noexcept {
  const char* rest = text::value_of(command_line, "program");
  text::for_each_word(rest, [&](const char* word, u64 bytes) {
    if (word == rest || text::is_listed(word, bytes, chosen.words) ||
        text::is_listed(word, bytes, common_words))
      return;
    line_of_text shown;
    for (u64 i = 0; i < bytes; ++i) shown.add(word[i]);
    shown.add('\0');
    panic("the program ", chosen.name, " does not take the word ", shown.begin());
  });
}
}  // namespace

bool run_program(const char* command_line) noexcept {
  const named_program* chosen = find_kernels(command_line);
  if (chosen == nullptr) chosen = find_hosted(command_line);
  if (chosen == nullptr) panic("the command line names no program of this image: ", command_line);
  refuse_unknown_words(*chosen, command_line);
  return chosen->run(command_line);
}

}  // namespace tutti::kernel
