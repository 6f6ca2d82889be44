// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry with the wait policy "park".

#include "src/registry_make.hpp"

TUTTI_DEFINE_WAITING(park)
