// SPDX-License-Identifier: Apache-2.0
// Adds barriers that the registry does not have, under names of their own.
// Hosted only: it needs std::function and the compiled library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/barrier/any_class.hpp"
#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti {

// Makes barriers that the registry does not have: in a device, a simulator or another runtime.
using barrier_provider = std::function<std::unique_ptr<any_barrier>(rank_t participants)>;

// Adds a provider. From now on its name is accepted wherever the name of an algorithm of the
// registry is: by make_barrier, tutti::barrier, tutti::reduction and teams, by the C interface, and
// by what is built on them. The provider decides how to wait.
// Throws std::invalid_argument if the name is empty or belongs to the registry or another provider.
// Thread-safe.
TUTTI_API void add_barrier_provider(std::string_view name, barrier_provider provider);
// Removes a provider, or does nothing if there is none with this name. Its barriers remain valid.
// Thread-safe.
TUTTI_API void remove_barrier_provider(std::string_view name) noexcept;
// Returns the names of all providers, in the order of the alphabet. Thread-safe.
TUTTI_CONTAINERS TUTTI_API std::vector<std::string> barrier_provider_names();

}  // namespace tutti
