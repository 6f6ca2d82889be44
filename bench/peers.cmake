# SPDX-License-Identifier: Apache-2.0
# One file a peer: bench/peers/NAME.cpp defines peer_NAME(), which says what the peer can do. It may
#   have a line `// needs TARGET of PACKAGE [ARGUMENT...], for OPERATION...`: without that target it is not compiled, and
#     `tutti info` says so under barrier, region or collective; with it, it becomes a module that is loaded when its
#     peers are asked for, so that no other program needs that library;
#   have a NAME.cmake beside it, for what must be built besides. That may set `peer_missing` to the reason why the peer
#     cannot be compiled, and `peer_operations`.

# tutti_add_peers(<target> <folder>): compiles what is there into <target>, and adds to the properties TUTTI_PEER_NAMES (a name, or
# name|operations of a module) and TUTTI_MISSING_PEERS (family|reason|operations), of which tutti_write_peer_list makes the list.
macro(tutti_add_peers target folder)
  file(GLOB peer_files CONFIGURE_DEPENDS "${folder}/*.cpp")
  foreach(peer_file IN LISTS peer_files)
    cmake_path(GET peer_file STEM peer_name)
    set(peer_missing "")
    set(peer_operations "")
    file(STRINGS "${peer_file}" peer_needs REGEX "^// needs " LIMIT_COUNT 1)
    if(peer_needs MATCHES "^// needs ([^ ]+) of ([^,]+), for (.+)$")
      set(peer_library "${CMAKE_MATCH_1}")
      string(REPLACE " " ";" peer_operations "${CMAKE_MATCH_3}")
      string(REPLACE " " ";" peer_package "${CMAKE_MATCH_2}")
      list(INSERT peer_package 1 QUIET)
      find_package(${peer_package})
      if(TARGET ${peer_library})
        tutti_add_peer_module(${peer_name} "${peer_file}" ${peer_library} "${peer_operations}")
        continue()
      else()
        set(peer_missing "${peer_library} was not there when tutti was built")
      endif()
    endif()
    if(EXISTS "${folder}/${peer_name}.cmake")
      include("${folder}/${peer_name}.cmake")
    endif()
    if(peer_missing)
      message(STATUS "Peer ${peer_name}: SKIPPED, ${peer_missing}")
      set_property(GLOBAL APPEND PROPERTY TUTTI_MISSING_PEERS "${peer_name}|${peer_missing}|${peer_operations}")
    else()
      target_sources(${target} PRIVATE "${peer_file}")
      set_property(GLOBAL APPEND PROPERTY TUTTI_PEER_NAMES ${peer_name})
    endif()
  endforeach()
endmacro()

# tutti_add_peer_module(<name> <file> <library> <operations>): the module tutti-peer-<name>.so.
function(tutti_add_peer_module name file library operations)
  set(target tutti_peer_module_${name})
  set(entry "${CMAKE_CURRENT_BINARY_DIR}/peer_modules/${name}.cpp")
  file(CONFIGURE OUTPUT "${entry}" CONTENT
"// Made by bench/peers.cmake.
#include \"bench/contenders/contender.hpp\"
namespace tutti::bench {
std::vector<contender> peer_@name@();
}
extern \"C\" __attribute__((visibility(\"default\"))) void tutti_add_peers(
    std::vector<tutti::bench::contender>& all) {
  tutti::bench::add_peers_of_file(all, \"@name@\", tutti::bench::peer_@name@());
}
" @ONLY)
  add_library(${target} MODULE "${file}" "${entry}")
  target_link_libraries(${target} PRIVATE tutti_bench tutti_warnings ${library})
  # Its own copy of the harness stays inside.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  set_target_properties(
    ${target}
    PROPERTIES PREFIX ""
               OUTPUT_NAME tutti-peer-${name}
               CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/tutti")
  string(REPLACE ";" " " operations "${operations}")
  set_property(GLOBAL APPEND PROPERTY TUTTI_PEER_NAMES "${name}|${operations}")
  set_property(GLOBAL APPEND PROPERTY TUTTI_PEER_TARGETS ${target})
  if(TUTTI_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tutti" COMPONENT peers)
  endif()
endfunction()

# tutti_write_peer_list(<file> <more>...): C++ with the list of all peers found so far, and of <more>.
function(tutti_write_peer_list file)
  get_property(names GLOBAL PROPERTY TUTTI_PEER_NAMES)
  get_property(missing GLOBAL PROPERTY TUTTI_MISSING_PEERS)
  set(declarations "")
  set(calls "")
  foreach(name IN LISTS names ARGN)
    if(name MATCHES "^([^|]*)[|](.*)$")
      set(name "${CMAKE_MATCH_1}")
      string(REGEX REPLACE "([a-z]+)" "operation::\\1," operations "${CMAKE_MATCH_2}")
      string(APPEND calls "  add_peers_of_module(all, \"${name}\", {${operations}});\n")
    else()
      string(APPEND declarations "std::vector<contender> peer_${name}();\n")
      string(APPEND calls "  add_peers_of_file(all.peers, \"${name}\", peer_${name}());\n")
    endif()
  endforeach()
  foreach(one IN LISTS missing)
    string(REGEX MATCH "^([^|]*)[|]([^|]*)[|](.*)$" one "${one}")
    set(family "${CMAKE_MATCH_1}")
    set(reason "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "([a-z]+)" "operation::\\1," operations "${CMAKE_MATCH_3}")
    string(APPEND calls "  all.missing.push_back({{\"${family}\", \"${reason}\"}, {${operations}}});\n")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" CONTENT
"// Made by bench/peers.cmake.
#include \"bench/contenders/contender.hpp\"
namespace tutti::bench {
@declarations@
compiled_peers peers_of_this_build() {
  compiled_peers all;
@calls@  return all;
}
}  // namespace tutti::bench
" @ONLY)
endfunction()
