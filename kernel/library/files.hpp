// SPDX-License-Identifier: Apache-2.0
// The files of the image that the loader put into memory.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel {

struct file_in_image {
  const char* name;
  const char* bytes;
  u64 count;
};

// Calls visit(file, argument) for each file, in the order of the archive.
void for_image_files(void (*visit)(const file_in_image&, void*), void* argument) noexcept;

}  // namespace tutti::kernel
