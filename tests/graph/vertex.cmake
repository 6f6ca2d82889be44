# SPDX-License-Identifier: Apache-2.0
# Tests of the vertex engine. The guarantees to a program are tested in every way to run it:
# hundreds of runs each.
tutti_add_test(NAME graph_vertex_semantics SOURCES vertex_semantics_test.cpp vertex_gather_test.cpp LIBRARIES tutti::graph_data)
tutti_add_test(NAME graph_vertex_misuse SOURCES vertex_misuse_test.cpp LIBRARIES tutti::graph_data)
tutti_add_test(NAME graph_vertex_failure SOURCES vertex_failure_test.cpp LIBRARIES tutti::graph_data)
tutti_add_test(NAME graph_vertex_shards SOURCES vertex_shards_test.cpp vertex_lists_test.cpp host_messages_test.cpp
               LIBRARIES tutti::graph_data)
tutti_add_test(NAME graph_vertex_combine SOURCES vertex_combine_test.cpp LIBRARIES tutti::graph_data)
tutti_add_test(NAME graph_share SOURCES share_test.cpp LIBRARIES tutti::graph_data)
if(tutti_plain_build)
  # A sanitizer's memory is not the program's.
  tutti_add_test(NAME graph_share_memory SOURCES share_memory_test.cpp LIBRARIES tutti::graph_data)
endif()

# Tests of the applications, against plain loops and oracles.
if(TARGET tutti_graph_apps)
  tutti_add_test(NAME graph_app_results SOURCES app_results_test.cpp LIBRARIES tutti_graph_apps)
  tutti_add_test(NAME graph_app_refusals SOURCES app_refusals_test.cpp LIBRARIES tutti_graph_apps)
endif()
if(TARGET tutti_command)
  # Compares with SciPy, NetworkX and Brian2, if they are installed.
  add_test(
    NAME graph_app_python
    COMMAND
      bash -c "test -x .venv/bin/python || { echo 'SKIPPED: no .venv; run make bootstrap'; exit 77; }
exec .venv/bin/python tests/graph/app_python_test.py $<TARGET_FILE:tutti_command>"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(graph_app_python PROPERTIES LABELS quick TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
