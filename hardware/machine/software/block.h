// SPDX-License-Identifier: Apache-2.0
// What start.S and the kernel agree about. Assembly includes it too.
#pragma once

// Bytes of a core's block: the frame of its thread, another one for handlers of timeouts, and the
// kernel's stack. 12 cache lines.
#define BLOCK_SIZE 768
#define PARAMETERS_OFFSET 0x80
// CALL_RESUME.
#define RESUME_CALL 9
