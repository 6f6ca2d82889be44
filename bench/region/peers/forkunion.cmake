# SPDX-License-Identifier: Apache-2.0
# ForkUnion: its crate carries the C++ headers.
tutti_fetch_crates(ForkUnion "${CMAKE_CURRENT_SOURCE_DIR}/region/peers/forkunion" forkunion_crates)
if(NOT forkunion_crates)
  return()
endif()
target_sources(tutti_bench PRIVATE region/peers/forkunion_pool.cpp)
target_include_directories(tutti_bench SYSTEM PRIVATE "${forkunion_crates}/forkunion/include")
target_compile_definitions(tutti_bench PRIVATE TUTTI_HAVE_FORKUNION=1)
