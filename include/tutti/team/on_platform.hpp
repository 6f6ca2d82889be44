// SPDX-License-Identifier: Apache-2.0
// Teams on a platform other than the native one, such as a simulator:
//
//   #include "tutti/team/on_platform.hpp"
//   tutti::basic_team<my_platform> team(8);
//
// The compiled library has the definitions of these headers for the native platform, so programs
// that use tutti::team include team.hpp, which does without them.
// Hosted only: it needs exceptions.
#pragma once

#include "tutti/team/define_loops.hpp"
#include "tutti/team/define_team.hpp"
#include "tutti/team/team.hpp"
