// SPDX-License-Identifier: Apache-2.0
// A precompiled header needs a source of its target. TuttiDefaults.cmake and TuttiTest.cmake list the headers.
