/* SPDX-License-Identifier: Apache-2.0
 * Graphs in C: the three vertices of a graph that a random walk visits most often, and how far they
 * are from the first one. Without an argument the program makes a graph by a rule; with one it
 * reads that file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tutti/graph.h"

int main(int count, char** arguments) {
  tutti_graph* graph = NULL;
  const int made = count > 1 ? tutti_graph_load(&graph, arguments[1], NULL)
                             : tutti_graph_generate(&graph, "kron:scale=12,degree=8");
  if (made != TUTTI_OK) {
    fprintf(stderr, "%s\n", tutti_graph_error());
    return 1;
  }
  const size_t vertices = tutti_graph_vertices(graph);
  double* ranks = calloc(vertices + 1, sizeof *ranks);
  int64_t* distances = calloc(vertices + 1, sizeof *distances);
  /* Ten seconds at most. */
  const tutti_graph_options options = {.size = sizeof options, .limit_ns = 10000000000};
  if (ranks == NULL || distances == NULL ||
      tutti_graph_pagerank(graph, 20, 0.85, 0, &options, ranks, vertices, NULL) != TUTTI_OK ||
      tutti_graph_bfs(graph, 0, &options, distances, NULL, vertices, NULL) != TUTTI_OK) {
    fprintf(stderr, "%s\n", tutti_graph_error());
    return 1;
  }
  for (size_t place = 1; place <= 3 && place <= vertices; ++place) {
    size_t best = 0;
    for (size_t v = 0; v < vertices; ++v)
      if (ranks[v] > ranks[best]) best = v;
    printf("%zu: vertex %zu, rank %.5f, %" PRId64 " edges away\n", place, best, ranks[best],
           distances[best]);
    ranks[best] = -1;
  }
  free(ranks);
  free(distances);
  tutti_graph_destroy(graph);
  return 0;
}
