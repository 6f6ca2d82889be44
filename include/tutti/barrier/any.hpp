// SPDX-License-Identifier: Apache-2.0
// A barrier whose algorithm and wait policy are chosen by name at run time.
// Hosted only: it needs exceptions and the compiled library.
#pragma once

#include <memory>
#include <string_view>

#include "tutti/barrier/any_class.hpp"
#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Makes a barrier. `algorithm` and `wait` are names of the registry (registry.hpp), or `algorithm`
// is the name of a provider. Throws std::invalid_argument, with one sentence that names the value,
// for an unknown name, for a wait policy that this machine does not support, for 0 participants,
// for a wait policy together with a provider, and for a patience with a wait policy that has none.
// Thread-safe.
TUTTI_API std::unique_ptr<any_barrier> make_barrier(std::string_view algorithm, rank_t participants,
                                                    std::string_view wait = "adaptive",
                                                    patience p = {});

// Tells whether make_barrier knows the name: "default", "default_rankless", an algorithm of the
// registry, or a provider. Thread-safe.
TUTTI_API bool is_barrier_name(std::string_view name) noexcept;

}  // namespace tutti
