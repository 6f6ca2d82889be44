/* SPDX-License-Identifier: Apache-2.0
 * TUTTI_API marks what the compiled library exports, for C and C++: everything else is hidden. */
#ifndef TUTTI_EXPORT_H
#define TUTTI_EXPORT_H

/* Visibility needs no distinction between building and using, or between static and shared. */
#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

#endif
