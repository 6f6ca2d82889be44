// SPDX-License-Identifier: Apache-2.0
// The image without the C++ library.
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

void prepare_library() noexcept {}
const named_program* find_hosted(const char*) noexcept { return nullptr; }

}  // namespace tutti::kernel
