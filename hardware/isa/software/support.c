// SPDX-License-Identifier: Apache-2.0
// The functions that the compiler may call implicitly.
#include <stddef.h>

void* memcpy(void* to, const void* from, size_t size) {
  char* t = to;
  const char* f = from;
  while (size-- > 0) *t++ = *f++;
  return to;
}
void* memset(void* to, int value, size_t size) {
  char* t = to;
  while (size-- > 0) *t++ = (char)value;
  return to;
}
