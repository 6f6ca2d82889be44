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

/* The debug mode of libstdc++ gives containers another layout. What is marked has containers and
 * stands in the compiled library: a program in that mode does not link with a library that is not,
 * and the linker names _GLIBCXX_DEBUG. */
#if defined(_GLIBCXX_DEBUG)
#define TUTTI_CONTAINERS __attribute__((abi_tag("GLIBCXX_DEBUG")))
#else
#define TUTTI_CONTAINERS
#endif

#endif
