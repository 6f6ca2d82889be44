/* SPDX-License-Identifier: Apache-2.0
 * Graphs in C: what the applications compute in each mode, and every error with its sentence. */
#include "tutti/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/c/check.h"

enum { most = 64 };

/* The call returns this error, and the sentence has these words. */
#define CHECK_ERROR(call, error, words)                                                      \
  do {                                                                                       \
    CHECK((call) == (error));                                                                \
    CHECK(strstr(tutti_graph_error(), (words)));                                             \
    if (!strstr(tutti_graph_error(), (words))) fprintf(stderr, "%s\n", tutti_graph_error()); \
  } while (0)

/* 0 -> 1 -> 2 -> 3, 0 -> 3, 5 -> 4; the direct way from 0 to 3 is the longest. */
static const uint32_t sources[] = {0, 1, 2, 0, 5};
static const uint32_t targets[] = {1, 2, 3, 3, 4};
static const float weights[] = {1, 1, 1, 9, 2};
enum { vertices = 6, edges = 5 };

static tutti_graph* small_graph(void) {
  tutti_graph* graph = NULL;
  CHECK(tutti_graph_from_edges(&graph, vertices, sources, targets, weights, edges) == TUTTI_OK);
  CHECK(tutti_graph_vertices(graph) == vertices);
  CHECK(tutti_graph_edges(graph) == edges);
  CHECK(tutti_graph_is_weighted(graph));
  return graph;
}

static tutti_graph_options options_of(uint32_t threads, int mode, int combine) {
  tutti_graph_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = threads;
  options.mode = mode;
  options.combine = combine;
  return options;
}

static void test_small(const tutti_graph* graph, const tutti_graph_options* options) {
  int64_t distances[vertices], parents[vertices];
  const int64_t near[] = {0, 1, 2, 1, -1, -1}, before[] = {0, 0, 1, 0, -1, -1};
  CHECK(tutti_graph_bfs(graph, 0, options, distances, parents, vertices, NULL) == TUTTI_OK);
  CHECK(memcmp(distances, near, sizeof near) == 0);
  CHECK(memcmp(parents, before, sizeof before) == 0);
  CHECK(tutti_graph_bfs(graph, 0, options, distances, NULL, vertices, NULL) == TUTTI_OK);

  float lengths[vertices];
  CHECK(tutti_graph_sssp(graph, 0, options, lengths, vertices, NULL) == TUTTI_OK);
  CHECK(lengths[0] == 0.0f && lengths[2] == 2.0f && lengths[3] == 3.0f && isinf(lengths[4]));

  uint32_t lowest[vertices];
  const uint32_t components[] = {0, 0, 0, 0, 4, 4};
  CHECK(tutti_graph_components(graph, options, lowest, vertices, NULL) == TUTTI_OK);
  CHECK(memcmp(lowest, components, sizeof components) == 0);
}

/* The same bits in each mode and for any number of threads. */
static void test_ranks(void) {
  tutti_graph* graph = NULL;
  CHECK(tutti_graph_generate(&graph, "kron:scale=5,degree=6") == TUTTI_OK);
  const size_t n = tutti_graph_vertices(graph);
  double first[most] = {0}, ranks[most];
  CHECK(n == 32);
  for (uint32_t threads = 1; threads <= 3; ++threads)
    for (int how = 0; how < 3; ++how) {
      const tutti_graph_options options =
          options_of(threads, how == 2 ? TUTTI_GRAPH_ASYNC : TUTTI_GRAPH_SYNC, how == 1);
      tutti_graph_statistics statistics = {.size = sizeof statistics};
      CHECK(tutti_graph_pagerank(graph, 12, 0.85, 0, &options, ranks, n, &statistics) == TUTTI_OK);
      CHECK(statistics.messages > 0 && statistics.run_seconds > 0);
      CHECK(statistics.combined == 0 || how == 1);
      if (threads == 1 && how == 0) memcpy(first, ranks, sizeof first);
      CHECK(memcmp(first, ranks, n * sizeof *ranks) == 0);
    }
  double sum = 0;
  for (size_t v = 0; v < n; ++v) sum += ranks[v];
  CHECK(fabs(sum - 1) < 1e-12);
  tutti_graph_statistics statistics = {.size = sizeof statistics};
  CHECK(tutti_graph_pagerank(graph, 1000, 0.85, 1e-3, NULL, ranks, n, &statistics) == TUTTI_OK);
  CHECK(statistics.steps > 1 && statistics.steps < 1000);
  tutti_graph_destroy(graph);
}

static void test_files(void) {
  char path[] = "/tmp/tutti_graph_XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  const char text[] = "0 1\n1 2\n2 x\n";
  CHECK(write(file, text, 8) == 8);
  tutti_graph_load_options options = {.size = sizeof options, .format = "el"};
  tutti_graph* graph = NULL;
  CHECK(tutti_graph_load(&graph, path, &options) == TUTTI_OK);
  CHECK(tutti_graph_vertices(graph) == 3 && tutti_graph_edges(graph) == 2);
  CHECK(!tutti_graph_is_weighted(graph));
  tutti_graph_destroy(graph);

  options.vertices_at_most = 2;
  CHECK_ERROR(tutti_graph_load(&graph, path, &options), TUTTI_EFILE, path);
  CHECK(graph == NULL);
  options.vertices_at_most = 0;
  CHECK(write(file, text + 8, 4) == 4);
  CHECK_ERROR(tutti_graph_load(&graph, path, &options), TUTTI_EFILE, ":3: a vertex must be");
  close(file);
  struct {
    tutti_graph_load_options known;
    uint64_t later;
  } of_a_later_version = {{.size = sizeof of_a_later_version, .format = "el"}, 1};
  CHECK_ERROR(tutti_graph_load(&graph, path, &of_a_later_version.known), TUTTI_ENOTSUP,
              "tutti_graph_load_options sets a member of a later version");
  CHECK(graph == NULL);
  of_a_later_version.later = 0;
  CHECK_ERROR(tutti_graph_load(&graph, path, &of_a_later_version.known), TUTTI_EFILE,
              ":3: a vertex must be");
  unlink(path);
  CHECK_ERROR(tutti_graph_load(&graph, path, &options), TUTTI_EFILE, "cannot be opened");
  options.format = "pdf";
  CHECK_ERROR(tutti_graph_load(&graph, path, &options), TUTTI_ENAME, "pdf");
  options.size = 3;
  CHECK_ERROR(tutti_graph_load(&graph, path, &options), TUTTI_EINVAL, "load_options");
  CHECK_ERROR(tutti_graph_load(&graph, NULL, NULL), TUTTI_EINVAL, "path");
  CHECK_ERROR(tutti_graph_load(NULL, path, NULL), TUTTI_EINVAL, "NULL");
}

static void test_bad_graphs(void) {
  tutti_graph* graph = (tutti_graph*)1;
  CHECK_ERROR(tutti_graph_from_edges(&graph, 3, sources, targets, NULL, edges), TUTTI_EINVAL, "3");
  CHECK(graph == NULL);
  CHECK_ERROR(tutti_graph_from_edges(&graph, 3, NULL, targets, NULL, 1), TUTTI_EINVAL, "NULL");
  CHECK_ERROR(tutti_graph_from_edges(&graph, 3, sources, NULL, NULL, 1), TUTTI_EINVAL, "NULL");
  CHECK_ERROR(tutti_graph_from_edges(NULL, 3, sources, targets, NULL, 1), TUTTI_EINVAL, "NULL");
  const float infinite[] = {INFINITY};
  CHECK_ERROR(tutti_graph_from_edges(&graph, 3, sources, targets, infinite, 1), TUTTI_EINVAL,
              "finite");
  CHECK_ERROR(tutti_graph_generate(&graph, "ring:vertices=x"), TUTTI_EINVAL, "vertices");
  CHECK_ERROR(tutti_graph_generate(&graph, "nothing:like=this"), TUTTI_EINVAL, "nothing");
  CHECK_ERROR(tutti_graph_generate(&graph, NULL), TUTTI_EINVAL, "NULL");
  CHECK_ERROR(tutti_graph_generate(NULL, "ring:vertices=4"), TUTTI_EINVAL, "NULL");
  CHECK(tutti_graph_vertices(NULL) == 0 && tutti_graph_edges(NULL) == 0);
  CHECK(!tutti_graph_is_weighted(NULL));
  tutti_graph_destroy(NULL);

  /* No vertices, no arrays. */
  CHECK(tutti_graph_from_edges(&graph, 0, NULL, NULL, NULL, 0) == TUTTI_OK);
  CHECK(tutti_graph_components(graph, NULL, NULL, 0, NULL) == TUTTI_OK);
  tutti_graph_destroy(graph);
}

#ifndef TUTTI_TEST_SANITIZED
/* The address space has 64 MiB left, and the graph takes more than 80. */
static void test_memory(void) {
  unsigned long pages = 0;
  FILE* const statm = fopen("/proc/self/statm", "r");
  CHECK(statm != NULL && fscanf(statm, "%lu", &pages) == 1);
  if (statm != NULL) fclose(statm);
  struct rlimit before, limited;
  CHECK(getrlimit(RLIMIT_AS, &before) == 0);
  limited = before;
  limited.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64u << 20);
  CHECK(setrlimit(RLIMIT_AS, &limited) == 0);
  tutti_graph* graph = NULL;
  CHECK_ERROR(tutti_graph_generate(&graph, "uniform:vertices=1e6,degree=20"), TUTTI_ENOMEM,
              "does not fit into memory");
  CHECK(graph == NULL);
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
}
#endif

static void test_bad_calls(const tutti_graph* graph) {
  int64_t distances[vertices];
  float lengths[vertices];
  uint32_t lowest[vertices];
  double ranks[vertices];
  CHECK_ERROR(tutti_graph_bfs(NULL, 0, NULL, distances, NULL, vertices, NULL), TUTTI_EINVAL,
              "the graph is NULL");
  CHECK_ERROR(tutti_graph_bfs(graph, 0, NULL, NULL, NULL, vertices, NULL), TUTTI_EINVAL, "array");
  CHECK_ERROR(tutti_graph_bfs(graph, 0, NULL, distances, NULL, 5, NULL), TUTTI_EINVAL,
              "5 elements, but the graph has 6 vertices");
  CHECK_ERROR(tutti_graph_bfs(graph, 6, NULL, distances, NULL, vertices, NULL), TUTTI_EINVAL,
              "source 6");
  CHECK_ERROR(tutti_graph_sssp(graph, 6, NULL, lengths, vertices, NULL), TUTTI_EINVAL, "source 6");
  CHECK_ERROR(tutti_graph_sssp(graph, 0, NULL, NULL, vertices, NULL), TUTTI_EINVAL, "array");
  CHECK_ERROR(tutti_graph_components(graph, NULL, NULL, vertices, NULL), TUTTI_EINVAL, "array");
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, 1, 0, NULL, ranks, vertices, NULL), TUTTI_EINVAL,
              "damping");
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, NAN, 0, NULL, ranks, vertices, NULL), TUTTI_EINVAL,
              "damping");
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, 0.85, -1, NULL, ranks, vertices, NULL), TUTTI_EINVAL,
              "tolerance");
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, 0.85, 0, NULL, NULL, vertices, NULL), TUTTI_EINVAL,
              "array");

  tutti_graph_options options = options_of(2, 7, 0);
  CHECK_ERROR(tutti_graph_components(graph, &options, lowest, vertices, NULL), TUTTI_EINVAL,
              "mode");
  options = options_of(2, TUTTI_GRAPH_ASYNC, 1);
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, 0.85, 0, &options, ranks, vertices, NULL),
              TUTTI_ENOTSUP, "combined");
  options.combine = 0;
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, 0.85, 0.1, &options, ranks, vertices, NULL),
              TUTTI_ENOTSUP, "tolerance");
  options.size = 4;
  CHECK_ERROR(tutti_graph_pagerank(graph, 9, 0.85, 0.1, &options, ranks, vertices, NULL),
              TUTTI_EINVAL, "tutti_graph_options");
  CHECK_ERROR(tutti_graph_components(graph, &options, lowest, vertices, NULL), TUTTI_EINVAL,
              "tutti_graph_options");
  struct {
    tutti_graph_options known;
    uint64_t later;
  } of_a_later_version = {options_of(2, TUTTI_GRAPH_ASYNC, 0), 1};
  of_a_later_version.known.size = sizeof of_a_later_version;
  CHECK_ERROR(
      tutti_graph_pagerank(graph, 9, 0.85, 0, &of_a_later_version.known, ranks, vertices, NULL),
      TUTTI_ENOTSUP, "tutti_graph_options sets a member of a later version");
  CHECK_ERROR(tutti_graph_components(graph, &of_a_later_version.known, lowest, vertices, NULL),
              TUTTI_ENOTSUP, "tutti_graph_options sets a member of a later version");
  of_a_later_version.later = 0;
  CHECK(tutti_graph_components(graph, &of_a_later_version.known, lowest, vertices, NULL) ==
        TUTTI_OK);
  options = options_of(2, 0, 0);
  options.partition = "halves";
  CHECK_ERROR(tutti_graph_components(graph, &options, lowest, vertices, NULL), TUTTI_EINVAL,
              "halves");
  options = options_of(2, 0, 0);
  options.detector = "guess";
  CHECK_ERROR(tutti_graph_components(graph, &options, lowest, vertices, NULL), TUTTI_ENAME,
              "guess");
  options = options_of(2, 0, 0);
  options.wait = "never";
  CHECK_ERROR(tutti_graph_components(graph, &options, lowest, vertices, NULL), TUTTI_ENAME,
              "never");
  options.partition = options.detector = options.wait = "";
  CHECK(tutti_graph_components(graph, &options, lowest, vertices, NULL) == TUTTI_OK);
  tutti_graph_statistics statistics = {.size = 1};
  CHECK_ERROR(tutti_graph_components(graph, NULL, lowest, vertices, &statistics), TUTTI_EINVAL,
              "tutti_graph_statistics");

  const float negative[] = {1, 1, 1, -9, 2};
  tutti_graph* other = NULL;
  CHECK(tutti_graph_from_edges(&other, vertices, sources, targets, negative, edges) == TUTTI_OK);
  CHECK_ERROR(tutti_graph_sssp(other, 0, NULL, lengths, vertices, NULL), TUTTI_EINVAL,
              "from 0 to 3");
  tutti_graph_destroy(other);
}

/* A run ends soon after its limit, and the arrays stay as they were. */
static void test_limit(const tutti_graph* graph) {
  for (uint32_t threads = 1; threads <= 3; ++threads) {
    tutti_graph_options options = options_of(threads, TUTTI_GRAPH_SYNC, 0);
    options.limit_ns = 1;
    double ranks[vertices] = {7, 7, 7, 7, 7, 7};
    CHECK_ERROR(tutti_graph_pagerank(graph, 20, 0.85, 0, &options, ranks, vertices, NULL),
                TUTTI_ETIMEDOUT, "longer than its limit");
    CHECK(ranks[0] == 7.0 && ranks[5] == 7.0);
  }
}

int main(void) {
  CHECK(strcmp(tutti_graph_error(), "") == 0);
  tutti_graph* graph = small_graph();
  test_small(graph, NULL);
  for (uint32_t threads = 1; threads <= 3; ++threads)
    for (int mode = TUTTI_GRAPH_SYNC; mode <= TUTTI_GRAPH_ASYNC; ++mode)
      for (int combine = 0; combine <= 1; ++combine) {
        const tutti_graph_options options = options_of(threads, mode, combine);
        test_small(graph, &options);
      }
  test_ranks();
  test_files();
  test_bad_graphs();
  test_bad_calls(graph);
  test_limit(graph);
#ifndef TUTTI_TEST_SANITIZED
  test_memory();
#endif
  tutti_graph_destroy(graph);
  return finish();
}
