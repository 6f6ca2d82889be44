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

# Compiler options of tutti's own sources; never handed on to users.
add_library(tutti_warnings INTERFACE)
target_compile_options(
  tutti_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                           $<$<BOOL:${TUTTI_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarm in std::string's operator+ with optimisation (GCC bug 105651).
  target_compile_options(tutti_warnings INTERFACE -Wno-restrict)
endif()

if(TUTTI_SANITIZE)
  string(REPLACE "," ";" tutti_sanitizers "${TUTTI_SANITIZE}")
  foreach(sanitizer IN LISTS tutti_sanitizers)
    if(NOT sanitizer MATCHES "^(address|undefined|leak|thread)$")
      message(FATAL_ERROR "TUTTI_SANITIZE: '${sanitizer}' is not one of address, undefined, leak, thread")
    endif()
  endforeach()
  # For all of the tree: a part that is not instrumented hides the errors of the others.
  add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
endif()
