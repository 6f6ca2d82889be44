/* SPDX-License-Identifier: Apache-2.0
 * TUTTI_API marks the symbols that the compiled library exports, for C and C++; it hides all
 * others. */
#ifndef TUTTI_EXPORT_H
#define TUTTI_EXPORT_H

/* The attribute is the same for building and using the library, static or shared. */
#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

#endif
