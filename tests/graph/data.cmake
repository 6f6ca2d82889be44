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

# libFuzzer comes with clang. It observes only code that is compiled with its option, so the library
# is compiled with it too.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
check_cxx_source_compiles(
  "#include <cstddef>
#include <cstdint>
extern \"C\" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }"
  TUTTI_HAVE_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)
if(TUTTI_HAVE_LIBFUZZER)
  get_target_property(sources tutti_graph_data SOURCES)
  get_target_property(source_folder tutti_graph_data SOURCE_DIR)
  list(TRANSFORM sources PREPEND "${source_folder}/")
  add_executable(graph_data_fuzz data_fuzz.cpp ${sources})
  target_compile_options(graph_data_fuzz PRIVATE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
                                                 -ffp-contract=off)
  target_link_options(graph_data_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
  target_compile_definitions(graph_data_fuzz PRIVATE $<TARGET_PROPERTY:tutti_graph_data,COMPILE_DEFINITIONS>)
  # Linking the library would bring its objects a second time, so only its dependencies are linked.
  find_package(ZLIB QUIET)
  target_link_libraries(graph_data_fuzz PRIVATE tutti::graph_data tutti_warnings
                                                $<$<TARGET_EXISTS:ZLIB::ZLIB>:ZLIB::ZLIB>)
  if(TUTTI_METIS_INCLUDE)
    target_include_directories(graph_data_fuzz SYSTEM PRIVATE "${TUTTI_METIS_INCLUDE}")
  endif()
  set_target_properties(graph_data_fuzz PROPERTIES CXX_EXTENSIONS OFF)
endif()
