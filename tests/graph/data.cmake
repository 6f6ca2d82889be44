# SPDX-License-Identifier: Apache-2.0
# Graphs as data: units, round trips, the corpus, other programs' readers, and the fuzzer.
tutti_add_test(
  NAME graph_data
  SOURCES data_corpus_test.cpp data_csr_test.cpp data_generate_test.cpp data_load_test.cpp
          data_malformed_test.cpp data_partition_test.cpp data_save_test.cpp
  LIBRARIES tutti::graph_data)
target_compile_definitions(graph_data PRIVATE TUTTI_TEST_CORPUS="${CMAKE_CURRENT_SOURCE_DIR}/data/corpus")

# NumPy, SciPy and NetworkX, if they are installed, read what tutti writes, and write what tutti
# reads.
add_executable(graph_data_convert data_convert.cpp)
target_link_libraries(graph_data_convert PRIVATE tutti::graph_data tutti_warnings)
set_target_properties(graph_data_convert PROPERTIES CXX_EXTENSIONS OFF)
add_test(
  NAME graph_data_python
  COMMAND
    bash -c "test -x .venv/bin/python || { echo 'SKIPPED: no .venv; run make bootstrap'; exit 77; }
exec .venv/bin/python tests/graph/data_python_test.py $<TARGET_FILE:graph_data_convert>"
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(graph_data_python PROPERTIES LABELS quick TIMEOUT 300 SKIP_RETURN_CODE 77)

# With `cmake --preset fuzz`. libFuzzer observes only code that is compiled for it, so the library is
# compiled so too.
if(TUTTI_FUZZ)
  set(checked address,undefined)
  target_compile_options(tutti_graph_data PRIVATE -fsanitize=fuzzer-no-link,${checked} -fno-sanitize-recover=all)
  target_link_options(tutti_graph_data PUBLIC -fsanitize=${checked})
  add_executable(graph_data_fuzz data_fuzz.cpp)
  target_compile_options(graph_data_fuzz PRIVATE -fsanitize=fuzzer,${checked} -fno-sanitize-recover=all)
  target_link_options(graph_data_fuzz PRIVATE -fsanitize=fuzzer,${checked})
  target_link_libraries(graph_data_fuzz PRIVATE tutti::graph_data tutti_warnings)
  set_target_properties(graph_data_fuzz PROPERTIES CXX_EXTENSIONS OFF)
endif()
