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

file(GLOB tutti_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cpp" "${PROJECT_SOURCE_DIR}/src/reduce/*.cpp"
     "${PROJECT_SOURCE_DIR}/src/team/*.cpp")
add_library(tutti ${tutti_sources}) # Static, or shared with BUILD_SHARED_LIBS.
add_library(tutti::tutti ALIAS tutti)
target_link_libraries(
  tutti
  PUBLIC tutti_headers
  PRIVATE PkgConfig::TUTTI_HWLOC hwy::hwy Boost::context $<BUILD_INTERFACE:tutti_warnings>)
set_target_properties(
  tutti
  PROPERTIES CXX_EXTENSIONS OFF
             CXX_VISIBILITY_PRESET hidden
             VISIBILITY_INLINES_HIDDEN ON
             POSITION_INDEPENDENT_CODE ON
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR})
# A product and a sum that become one fused instruction on some vector units only, or any freedom that a user's flags
# give, would make sums differ between machines. Highway includes a source by its path below src, once a target.
set_source_files_properties(
  src/reduce/exact.cpp src/reduce/fold.cpp
  PROPERTIES COMPILE_OPTIONS "-fno-fast-math;-ffp-contract=off" INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}")
