// SPDX-License-Identifier: Apache-2.0
// What the kernel calls of this layer under the C++ library.
#pragma once

namespace tutti::kernel {

// Chooses the variants of the C library's functions. Call it before any function of the library.
void choose_variants() noexcept;

}  // namespace tutti::kernel
