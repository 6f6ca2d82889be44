# SPDX-License-Identifier: Apache-2.0
# What `tutti bench instruction` and `tutti bench vcode` measure. Included where the command is built: the interpreter
# comes after the harness.
set(vcode_bench "${PROJECT_SOURCE_DIR}/bench/vcode")
# Loops and plain interpreter are what a programmer gets from -O2 without further thought; the loops may use this machine's
# vector unit, as hand-written code for one machine would.
add_library(tutti_bench_loops STATIC "${vcode_bench}/loops.cpp" "${vcode_bench}/plain.cpp")
target_link_libraries(
  tutti_bench_loops
  PUBLIC tutti_vcode
  PRIVATE tutti_warnings)
set_target_properties(tutti_bench_loops PROPERTIES CXX_EXTENSIONS OFF)
set_source_files_properties("${vcode_bench}/plain.cpp" PROPERTIES COMPILE_OPTIONS "-O2")
set_source_files_properties("${vcode_bench}/loops.cpp" PROPERTIES COMPILE_OPTIONS "-O3")
add_library(tutti_bench_vcode STATIC "${vcode_bench}/instruction.cpp")
add_executable(tutti_peer_vcode_plain "${vcode_bench}/plain_program.cpp" fmt_inside.cpp)
target_link_libraries(tutti_peer_vcode_plain PRIVATE tutti_bench_loops tutti_warnings)
tutti_link_for_start(tutti_peer_vcode_plain)
tutti_add_peer_program(tutti_peer_vcode_plain vcode-plain)
add_library(tutti_bench_vcode_suites STATIC "${vcode_bench}/instruction_suite.cpp" "${vcode_bench}/processes.cpp"
                                     "${vcode_bench}/program_suite.cpp")
target_link_libraries(
  tutti_bench_vcode_suites
  PUBLIC tutti_bench_vcode tutti_bench
  PRIVATE tutti_warnings)
target_link_libraries(
  tutti_bench_vcode
  PUBLIC tutti_bench_loops tutti_vcode tutti_harness
  PRIVATE tutti_warnings)
set_target_properties(tutti_bench_vcode tutti_bench_vcode_suites PROPERTIES CXX_EXTENSIONS OFF)

if(TUTTI_GCC)
  set(region "${CMAKE_CURRENT_BINARY_DIR}/vcode_libgomp_region.o")
  add_custom_command(
    OUTPUT "${region}"
    COMMAND "${TUTTI_GCC}" -std=c11 -O2 -fPIC -Wall -Wextra -fopenmp -I "${PROJECT_SOURCE_DIR}" -c
            "${PROJECT_SOURCE_DIR}/bench/peers/openmp/regions.c" -o "${region}"
    DEPENDS "${PROJECT_SOURCE_DIR}/bench/peers/openmp/regions.c"
    COMMENT "Compiling the parallel regions of libgomp"
    VERBATIM)
  execute_process(
    COMMAND "${TUTTI_GCC}" -print-file-name=libgomp.so
    OUTPUT_VARIABLE libgomp
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  add_executable(tutti_peer_vcode_libgomp "${vcode_bench}/openmp_worker.cpp" "${region}")
  target_link_libraries(tutti_peer_vcode_libgomp PRIVATE tutti_bench_vcode tutti_warnings "${libgomp}")
  tutti_add_peer_program(tutti_peer_vcode_libgomp vcode-libgomp)
endif()
