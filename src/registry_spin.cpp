// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry with the wait policy "spin".

#include "src/registry_make.hpp"

TUTTI_DEFINE_WAITING(spin)
