# SPDX-License-Identifier: Apache-2.0
# ForkUnion: its crate carries the C++ headers.
set(peer_operations region)
tutti_fetch_crates(ForkUnion "${CMAKE_CURRENT_SOURCE_DIR}/peers/forkunion" forkunion_crates)
if(forkunion_crates)
  target_include_directories(tutti_peers SYSTEM PRIVATE "${forkunion_crates}/forkunion/include")
else()
  set(peer_missing "ForkUnion could not be fetched by cargo when tutti was built")
endif()
