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

find_package(PkgConfig REQUIRED)
pkg_check_modules(TUTTI_HWLOC REQUIRED QUIET IMPORTED_TARGET hwloc)
find_package(hwy REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)

add_subdirectory(src)
