// SPDX-License-Identifier: Apache-2.0
// Deprecated: this header was renamed, and forwards to the new one until the next version.
#pragma once

#include "tutti/comm/endpoint.hpp"
