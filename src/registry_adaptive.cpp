// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry with the wait policy "adaptive".

#include "src/registry_make.hpp"

TUTTI_DEFINE_WAITING(adaptive)
