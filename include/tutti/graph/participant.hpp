// SPDX-License-Identifier: Apache-2.0
// Deprecated: this header was renamed, and forwards to the new one until the next version.
#pragma once

#include "tutti/graph/vertex_engine.hpp"

namespace tutti::graph {

// Deprecated: the old name of vertex_engine.
template <vertex_program Program, endpoint_like Endpoint, class Host>
using participant = vertex_engine<Program, Endpoint, Host>;

}  // namespace tutti::graph
