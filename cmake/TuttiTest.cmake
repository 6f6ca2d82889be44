# SPDX-License-Identifier: Apache-2.0
# tutti_add_test(): a GoogleTest program.
find_package(GTest REQUIRED)
include(GoogleTest)

# What nearly every test includes, compiled once. No header of tutti is in it: a change of one would
# compile all tests anew.
add_library(tutti_test_headers STATIC "${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp")
set_target_properties(tutti_test_headers PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(tutti_test_headers PRIVATE tutti::headers tutti_warnings GTest::gtest)
target_precompile_headers(
  tutti_test_headers PRIVATE <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <functional> <memory> <random>
  <sstream> <string> <thread> <vector>)
tutti_compile_quickly(tutti_test_headers)

# The main() of all test programs.
add_library(tutti_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp")
set_target_properties(tutti_test_main PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(tutti_test_main PUBLIC GTest::gtest PRIVATE tutti_warnings)
target_compile_features(tutti_test_main PRIVATE cxx_std_20)
tutti_compile_quickly(tutti_test_main)

# tutti_add_test(NAME name SOURCES file...
#                [LABELS label...]   quick (the default, run by `make test`) or long (of the plain build), and any others
#                [LIBRARIES lib...]  besides tutti::tutti and GTest::gtest
#                [ARGS arg...]       handed to the program
#                [SHARDS n]          n processes share the cases; default 1
#                [CASES]             a process for each case: for cases of many minutes
#                [TIMEOUT seconds]   of one process; default 300 for quick, 1800 for long; four times that with sanitizers
#                [OPTIMISED]         compiled as what ships is; others are compiled quickly
#                [SERIAL])           never beside another test: for tests that measure time
# A process names each case that fails. ctest shows it as skipped if all of its cases were skipped.
function(tutti_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "OPTIMISED;SERIAL;CASES" "NAME;TIMEOUT;SHARDS" "SOURCES;LABELS;LIBRARIES;ARGS")
  if(NOT arg_NAME OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tutti_add_test: needs NAME and SOURCES; not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT "long" IN_LIST arg_LABELS AND NOT "quick" IN_LIST arg_LABELS)
    list(PREPEND arg_LABELS quick)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
    if("long" IN_LIST arg_LABELS)
      set(arg_TIMEOUT 1800)
    endif()
  endif()
  # Instrumented code is five to twenty times slower.
  if(TUTTI_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 4")
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()

  add_executable(${arg_NAME} ${arg_SOURCES})
  set_target_properties(${arg_NAME} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${arg_NAME} PRIVATE tutti::tutti tutti_warnings tutti_test_main ${arg_LIBRARIES})
  if(NOT arg_OPTIMISED)
    tutti_compile_quickly(${arg_NAME})
    target_precompile_headers(${arg_NAME} REUSE_FROM tutti_test_headers)
  endif()

  # The stages of long tests are those of the plain build.
  if("long" IN_LIST arg_LABELS AND NOT tutti_plain_build)
    set_target_properties(${arg_NAME} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()

  set(serial FALSE)
  if(arg_SERIAL)
    set(serial TRUE)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${serial} SKIP_RETURN_CODE 77)
  if(arg_CASES)
    # gtest_discover_tests() cannot hand on a list: the labels become one, which ctest -L still finds.
    string(REPLACE ";" "-" label "${arg_LABELS}")
    gtest_discover_tests(
      ${arg_NAME}
      EXTRA_ARGS ${arg_ARGS}
      TEST_PREFIX "${arg_NAME}."
      NO_PRETTY_VALUES # A test's own name of its parameter is the prettier one.
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS "${label}" ${properties})
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(test ${arg_NAME})
    if(arg_SHARDS GREATER 1)
      set(test ${arg_NAME}.${shard}_of_${arg_SHARDS})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${arg_NAME} ${arg_ARGS})
    set_tests_properties(
      ${test} PROPERTIES LABELS "${arg_LABELS}" ${properties} ENVIRONMENT
                         "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
