# SPDX-License-Identifier: Apache-2.0
# Peers that are published as crates, Rust's packages: cargo fetches them from its registry into the build tree, in the
# versions that a Cargo.lock names. Without cargo or a network such a peer is left out, with one line that says so.
option(TUTTI_FETCH_PEERS "Let cargo fetch the peers ForkUnion and Rayon when the build is configured" ON)
find_program(TUTTI_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
             DOC "Fetches the peers ForkUnion and Rayon, and builds the latter")
find_program(TUTTI_RUSTC rustc HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
             DOC "Compiles the peer Rayon")

# Rayon's need; older ones, as Debian 12's, do not read these lock files either.
set(tutti_least_rust 1.80)

# tutti_rust_fault(<program> <name> <result>): why it cannot be used; empty: it can.
function(tutti_rust_fault program name result)
  set(${result} "" PARENT_SCOPE)
  if(NOT program)
    set(${result} "${name} is not installed" PARENT_SCOPE)
    return()
  endif()
  execute_process(
    COMMAND "${program}" --version
    OUTPUT_VARIABLE version
    ERROR_QUIET
    TIMEOUT 20)
  if(NOT version MATCHES "^${name} ([0-9]+\\.[0-9]+)")
    set(${result} "${program} does not run" PARENT_SCOPE)
  elseif(CMAKE_MATCH_1 VERSION_LESS tutti_least_rust)
    set(${result} "${program} is ${CMAKE_MATCH_1}, and ${tutti_least_rust} is the oldest that will do" PARENT_SCOPE)
  endif()
endfunction()

# tutti_fetch_crates(<peer> <folder> <result>): what the Cargo.lock in <folder> names, sources only, below the path that is
# put in <result>, a folder a crate; empty: they cannot be had, and a line has said why. Asks the registry once.
function(tutti_fetch_crates peer folder result)
  set(crates "${CMAKE_CURRENT_BINARY_DIR}/crates/${peer}")
  set(${result} "${crates}" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/Cargo.toml" "${folder}/Cargo.lock")
  file(SHA256 "${folder}/Cargo.lock" wanted)
  if(EXISTS "${crates}/.fetched")
    file(READ "${crates}/.fetched" fetched)
    if(fetched STREQUAL wanted)
      return()
    endif()
  endif()

  set(reason "")
  if(NOT TUTTI_FETCH_PEERS)
    set(reason "TUTTI_FETCH_PEERS is off")
  else()
    tutti_rust_fault("${TUTTI_CARGO}" cargo reason)
  endif()
  if(NOT reason)
    file(REMOVE_RECURSE "${crates}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env CARGO_NET_RETRY=1 CARGO_HTTP_TIMEOUT=15 "${TUTTI_CARGO}" vendor --quiet --locked
              --manifest-path "${folder}/Cargo.toml" "${crates}"
      RESULT_VARIABLE status
      OUTPUT_QUIET ERROR_QUIET
      TIMEOUT 60)
    if(status EQUAL 0)
      file(WRITE "${crates}/.fetched" "${wanted}")
      return()
    endif()
    set(reason "cargo could not fetch it (is there a network?)")
  endif()
  message(STATUS "Peer ${peer}: SKIPPED, ${reason}")
  set(${result} "" PARENT_SCOPE)
endfunction()

# tutti_add_rust_library(<target> <peer> <folder> <crates> <archive>): the static library of the crate in <folder>, built
# from the sources in <crates> without a network.
function(tutti_add_rust_library target peer folder crates archive)
  set(build "${CMAKE_CURRENT_BINARY_DIR}/rust/${peer}")
  set(library "${build}/release/${archive}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.rs")
  add_custom_command(
    OUTPUT "${library}"
    COMMAND
      "${TUTTI_CARGO}" build --quiet --release --locked --offline --manifest-path "${folder}/Cargo.toml" --target-dir
      "${build}" --config "build.rustc='${TUTTI_RUSTC}'" --config "source.crates-io.replace-with='fetched'" --config
      "source.fetched.directory='${crates}'"
    COMMAND "${CMAKE_COMMAND}" -E touch "${library}"
    DEPENDS ${sources} "${folder}/Cargo.toml" "${folder}/Cargo.lock" "${crates}/.fetched"
    COMMENT "Building the regions of ${peer} with cargo"
    VERBATIM)
  add_custom_target(${target}_build DEPENDS "${library}")
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${library}")
  # What Rust's standard library needs.
  target_link_libraries(${target} INTERFACE Threads::Threads ${CMAKE_DL_LIBS} gcc_s m)
  add_dependencies(${target} ${target}_build)
endfunction()
