# SPDX-License-Identifier: Apache-2.0
# What holds for every target of tutti's own tree; a project that embeds tutti keeps its own choices.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_COLOR_DIAGNOSTICS ON)

  # Compiles only what has changed since any build on this machine, wherever the tree lies.
  # -DCMAKE_CXX_COMPILER_LAUNCHER= (empty) switches it off.
  find_program(TUTTI_CCACHE ccache)
  mark_as_advanced(TUTTI_CCACHE)
  if(TUTTI_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
                 CCACHE_SLOPPINESS=pch_defines,time_macros "${TUTTI_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}" CACHE STRING "Program that starts the C++ compiler")
    set(CMAKE_C_COMPILER_LAUNCHER "${launcher}" CACHE STRING "Program that starts the C compiler")
  endif()
endif()

# tutti_compile_quickly(<target>): for code whose speed matters less than the time that it takes to compile: tests, and
# the parts of programs that read options. Halves the compiler's time against -O3.
function(tutti_compile_quickly target)
  if(NOT TUTTI_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# tutti_precompile(<target> [FMT]): the standard headers that most sources include, and {fmt} for a target that links it,
# come to this target compiled once for the whole tree. No header of tutti is among them: a change of one would compile
# everything anew. A project that embeds tutti compiles each source as it stands.
set(tutti_precompiled <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <optional> <span> <stdexcept> <string>
                      <string_view> <vector>)
function(tutti_precompile target)
  # The fuzzers add options to targets later.
  if(NOT PROJECT_IS_TOP_LEVEL OR TUTTI_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "FMT" "" "")
  # The compiler takes precompiled headers only with the options that they were made with.
  get_target_property(pic ${target} POSITION_INDEPENDENT_CODE)
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(MD5 key "${pic} ${options} ${arg_FMT}")
  string(SUBSTRING ${key} 0 6 key)
  set(owner tutti_precompiled_${key})
  if(NOT TARGET ${owner})
    add_library(${owner} STATIC "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
    target_compile_features(${owner} PUBLIC cxx_std_20)
    target_link_libraries(${owner} PRIVATE tutti_warnings)
    set_target_properties(${owner} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE "${pic}" EXCLUDE_FROM_ALL TRUE)
    if(options)
      target_compile_options(${owner} PRIVATE ${options})
    endif()
    target_precompile_headers(${owner} PRIVATE ${tutti_precompiled})
    if(arg_FMT)
      target_link_libraries(${owner} PRIVATE fmt::fmt)
      # Where nothing is optimised, {fmt} is, by a pragma. g++ forgets at the end of a precompiled header that the pragma
      # has ended: it leaves __OPTIMIZE__ defined, and the processor's intrinsics do not compile.
      if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
        target_precompile_headers(${owner} PRIVATE <fmt/format.h>)
      endif()
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# Compiler options of tutti's own sources; never handed on to users.
add_library(tutti_warnings INTERFACE)
target_compile_options(
  tutti_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                           $<$<BOOL:${TUTTI_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarm in std::string's operator+ with optimisation (GCC bug 105651).
  target_compile_options(tutti_warnings INTERFACE -Wno-restrict)
endif()

if(TUTTI_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "TUTTI_FUZZ needs clang: libFuzzer comes with it")
endif()
if(TUTTI_SANITIZE)
  string(REPLACE "," ";" tutti_sanitizers "${TUTTI_SANITIZE}")
  foreach(sanitizer IN LISTS tutti_sanitizers)
    if(NOT sanitizer MATCHES "^(address|undefined|leak|thread)$")
      message(FATAL_ERROR "TUTTI_SANITIZE: '${sanitizer}' is not one of address, undefined, leak, thread")
    endif()
  endforeach()
  # For all of the tree: a part that is not instrumented hides the errors of the others.
  # At -O1 and with the line tables alone, a source compiles in two thirds of the time of -O2 -g.
  add_compile_options(-O1 -g1 -fsanitize=${TUTTI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
  # clang 14 defines no macro by which a test could learn that it is instrumented.
  add_compile_definitions(TUTTI_TEST_SANITIZED)
  if("thread" IN_LIST tutti_sanitizers)
    add_compile_definitions(TUTTI_TEST_TSAN)
  else()
    # All programs then also have the checks of misuse, as the library's tests have in the debug build.
    add_compile_options(-UNDEBUG)
  endif()
endif()

# Some tests come out the same whatever the compiler, the build type and the sanitizer: those of sources, pages, packages,
# RTL, the kernel and the model checker, whose flags are their own. The plain build alone has them.
set(tutti_plain_build OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
   AND NOT TUTTI_SANITIZE
   AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(tutti_plain_build ON)
endif()
