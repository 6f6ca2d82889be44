// SPDX-License-Identifier: Apache-2.0
// Instructions to steps: everything that can be looked up once is looked up before the program runs.
#pragma once

#include <memory>
#include <vector>

#include "kernels/fold.hpp"
#include "language/program.hpp"
#include "machine/context.hpp"

namespace tutti::vcode {

struct prepared_program {
  const program_data* data = nullptr;
  std::vector<step> steps;  // one for each instruction
  std::vector<std::unique_ptr<fold_kernels>> folds;
};

prepared_program prepare(const program_data& data);

}  // namespace tutti::vcode
