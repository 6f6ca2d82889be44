// SPDX-License-Identifier: Apache-2.0
// Adds barriers that the registry does not have, under names of their own.
// Hosted only: it needs std::function and the compiled library.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tutti/barrier/any_class.hpp"
#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti {

// Makes barriers that the registry does not have: in a device, a simulator or another runtime.
using barrier_provider = std::function<std::unique_ptr<any_barrier>(rank_t participants)>;

// Adds a provider: make_barrier(name, ...) and tutti::barrier with options call it from now on. The
// C interface and teams accept only the names of the registry. The provider decides how to wait.
// Throws std::invalid_argument if the name is empty or belongs to the registry or another provider.
// Thread-safe.
TUTTI_API void add_barrier_provider(std::string_view name, barrier_provider provider);
// Removes a provider, or does nothing if there is none with this name. Its barriers remain valid.
// Thread-safe.
TUTTI_API void remove_barrier_provider(std::string_view name) noexcept;

}  // namespace tutti
