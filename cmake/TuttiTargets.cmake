# SPDX-License-Identifier: Apache-2.0
# The library targets: tutti::headers (all that is inlined) and tutti::tutti (headers and compiled part).
find_package(Threads REQUIRED)

add_library(tutti_headers INTERFACE)
add_library(tutti::headers ALIAS tutti_headers)
set_target_properties(tutti_headers PROPERTIES EXPORT_NAME headers)
target_compile_features(tutti_headers INTERFACE cxx_std_20)
target_include_directories(
  tutti_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tutti_headers INTERFACE Threads::Threads)

if(TUTTI_FREESTANDING)
  return()
endif()

# What the compiled library uses where it is there; without it, it reads /sys, folds one lane at a time and switches
# stacks by code of its own. `tutti info` tells which it was.
set(TUTTI_HAVE_HWLOC 0)
set(TUTTI_HAVE_HIGHWAY 0)
set(TUTTI_HAVE_BOOST_CONTEXT 0)
if(NOT TUTTI_CORE_ONLY)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(TUTTI_HWLOC QUIET IMPORTED_TARGET hwloc)
  endif()
  find_package(hwy QUIET)
  if(TARGET PkgConfig::TUTTI_HWLOC)
    set(TUTTI_HAVE_HWLOC 1)
  else()
    message(STATUS "Topology: SKIPPED hwloc, it is not installed (libhwloc-dev); /sys is read instead")
  endif()
  if(TARGET hwy::hwy)
    set(TUTTI_HAVE_HIGHWAY 1)
  else()
    message(STATUS "Reductions: SKIPPED vector kernels, Highway is not installed (libhwy-dev)")
  endif()
endif()
# Virtual ranks switch stacks by Boost.Context on processors other than x86-64.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  find_package(Boost REQUIRED COMPONENTS context)
  set(TUTTI_HAVE_BOOST_CONTEXT 1)
endif()

add_subdirectory(src)
