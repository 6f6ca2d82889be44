// SPDX-License-Identifier: Apache-2.0
// Declares tutti::team and tutti::member for headers that only name them.
#pragma once

#include "tutti/export.h"

namespace tutti {

struct native;

template <class Memory>
class TUTTI_CONTAINERS basic_team;
using team = basic_team<native>;

template <class Memory>
class basic_member;
using member = basic_member<native>;

}  // namespace tutti
