# SPDX-License-Identifier: Apache-2.0
# What holds for every target of tutti's own tree; a project that embeds tutti keeps its own choices.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_COLOR_DIAGNOSTICS ON)
endif()

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
