# SPDX-License-Identifier: Apache-2.0
# One program for each OpenMP runtime: gcc makes the parallel regions of libgomp's, clang that of LLVM's, whatever compiles
# the rest of tutti.
find_program(TUTTI_GCC gcc DOC "The compiler of the peer libgomp")
find_program(TUTTI_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14
             DOC "The compiler of the peer libomp")

# tutti_add_openmp_peer(<runtime> <compiler> <flag> <library>): the program tutti-peer-<runtime>.
function(tutti_add_openmp_peer runtime compiler flag library)
  set(reason "")
  if(NOT compiler)
    set(reason "its compiler is not installed")
  else()
    # gcc knows where its runtime is; clang's is beside its other libraries.
    execute_process(
      COMMAND "${compiler}" "-print-file-name=${library}"
      OUTPUT_VARIABLE library_path
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(
      COMMAND "${compiler}" -print-resource-dir
      OUTPUT_VARIABLE resources
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS "${resources}/../../${library}")
      cmake_path(SET library_path NORMALIZE "${resources}/../../${library}")
    endif()
    if(NOT IS_ABSOLUTE "${library_path}")
      set(reason "${library} is not installed")
    endif()
  endif()
  if(reason)
    message(STATUS "Peer ${runtime}: SKIPPED, ${reason}")
    return()
  endif()

  set(folder "${CMAKE_CURRENT_SOURCE_DIR}/peers/openmp")
  set(region "${CMAKE_CURRENT_BINARY_DIR}/${runtime}_region.o")
  add_custom_command(
    OUTPUT "${region}"
    COMMAND "${compiler}" -std=c11 -O2 -fPIC -Wall -Wextra ${flag} -I "${PROJECT_SOURCE_DIR}" -c
            "${folder}/regions.c" -o "${region}"
    DEPENDS "${folder}/regions.c" "${folder}/regions.h" "${CMAKE_CURRENT_SOURCE_DIR}/harness/checksum.h"
    COMMENT "Compiling the parallel regions of ${runtime}"
    VERBATIM)
  set(target tutti_peer_${runtime})
  add_executable(${target} peers/openmp/process.cpp "${region}")
  target_link_libraries(${target} PRIVATE tutti_harness tutti_warnings "${library_path}")
  tutti_add_peer_program(${target} ${runtime})
endfunction()

tutti_add_openmp_peer(libgomp "${TUTTI_GCC}" -fopenmp libgomp.so)
tutti_add_openmp_peer(libomp "${TUTTI_CLANG}" -fopenmp=libomp libomp.so)
