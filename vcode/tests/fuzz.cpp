// SPDX-License-Identifier: Apache-2.0
// For libFuzzer: any text is refused with a source_error, or verified; what is verified runs without harm.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vcode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::vcode;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const program code = compile(text, "fuzz");
    require_no_inputs(code);
    // Without recursion a program ends; without streams it harms nobody.
    for (const char* word : {"SPAWN", "FOPEN", "FWRITE", "WRITE", "READ", "FCLOSE", "CALL"}) {
      if (text.find(word) != std::string_view::npos) return 0;
    }
    run_options how;
    how.memory = 1 << 22;
    how.defer_from = 2;  // What is deferred in long vectors only is deferred here.
    run(code, {}, how);
  } catch (const source_error&) {
  } catch (const run_error&) {
  }
  return 0;
}
