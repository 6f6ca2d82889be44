// SPDX-License-Identifier: Apache-2.0
// The files of the image that the loader put into memory.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel {

struct file_in_image {
  // A prefix of up to 155 bytes, '/', a name of up to 100, and the end of the text.
  char name[257] = {};
  const char* bytes = nullptr;
  u64 count = 0;
};

// Calls visit(file, argument) for each file, in the order of the archive. Returns false if there is
// something in the archive that it cannot read: anything but files and folders in the format ustar.
bool for_image_files(void (*visit)(const file_in_image&, void*), void* argument) noexcept;

}  // namespace tutti::kernel
