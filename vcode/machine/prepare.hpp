// SPDX-License-Identifier: Apache-2.0
// Turns instructions into steps: looks up everything that can be looked up before the program runs.
#pragma once

#include <memory>
#include <vector>

#include "vcode/kernels/fold.hpp"
#include "vcode/language/program.hpp"
#include "vcode/machine/context.hpp"

namespace tutti::vcode {

struct prepared_program {
  const program_data* data = nullptr;
  // One step for each instruction.
  std::vector<step> steps;
  std::vector<std::unique_ptr<fold_kernels>> folds;
};

prepared_program prepare(const program_data& data);

}  // namespace tutti::vcode
