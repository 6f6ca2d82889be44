// SPDX-License-Identifier: Apache-2.0
// How the functions of libgomp's interface are declared. gomp.map gives their versions.
#pragma once

#define TUTTI_OMP extern "C" [[gnu::visibility("default")]]
