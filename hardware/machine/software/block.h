// SPDX-License-Identifier: Apache-2.0
// What start.S and kernel.c agree about. Assembly includes it too.
#pragma once

// Bytes of a core's block: frame and kernel stack. 12 cache lines.
#define BLOCK_SIZE 768
#define PARAMETERS_OFFSET 0x80
