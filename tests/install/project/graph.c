/* SPDX-License-Identifier: Apache-2.0
 * A user's program in C with a graph: the distances along a chain. */
#include <stdio.h>
#include <tutti/graph.h>

int main(void) {
  tutti_graph* graph = NULL;
  int64_t distances[5];
  if (tutti_graph_generate(&graph, "chain:vertices=5") != TUTTI_OK) return 1;
  if (tutti_graph_bfs(graph, 0, NULL, distances, NULL, 5, NULL) != TUTTI_OK) return 1;
  tutti_graph_destroy(graph);
  printf("C: the end of the chain is %d edges away\n", (int)distances[4]);
  return distances[4] == 4 ? 0 : 1;
}
