/* SPDX-License-Identifier: Apache-2.0
 * The version of tutti, for C and C++. The build reads it from this file; no other file has it. */
#ifndef TUTTI_VERSION_H
#define TUTTI_VERSION_H

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0

/* A number that grows with the version: #if TUTTI_VERSION >= 100 means 0.1.0 or later. */
#define TUTTI_VERSION \
  (TUTTI_VERSION_MAJOR * 10000 + TUTTI_VERSION_MINOR * 100 + TUTTI_VERSION_PATCH)

#define TUTTI_VERSION_STRING "0.1.0"

#endif
