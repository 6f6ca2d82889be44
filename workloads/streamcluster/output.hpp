// SPDX-License-Identifier: Apache-2.0
// The file of the centres.
#pragma once

#include <string>

#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {

// One line per centre: position in the stream, weight, coordinates. Each number reads back as the
// same number.
std::string to_text(const clustering& found);

}  // namespace tutti::streamcluster
