/* SPDX-License-Identifier: Apache-2.0
 * The C interface of graphs and of four applications on them (docs/graphs.md). Link with
 * -ltutti_graph (pkg-config tutti-graph), which needs no other library of tutti. The rules of
 * tutti.h apply; its errors are those returned here.
 *
 *   tutti_graph* graph;
 *   if (tutti_graph_load(&graph, "web.mtx", NULL) != TUTTI_OK) puts(tutti_graph_error());
 *   double* rank = malloc(tutti_graph_vertices(graph) * sizeof *rank);
 *   tutti_graph_pagerank(graph, 20, 0.85, 0, NULL, rank, tutti_graph_vertices(graph), NULL);
 *   tutti_graph_destroy(graph);
 *
 * A graph does not change once it is made: any number of threads may read it and run applications
 * on it at the same time. Results have the same bits for all options. */
#ifndef TUTTI_GRAPH_H
#define TUTTI_GRAPH_H

#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a sentence about the last error that a function of this header returned to this thread.
 * For a file the sentence names the file, the line and the error. It is empty if there was no
 * error. The next error of the thread overwrites it. */
TUTTI_API const char* tutti_graph_error(void);

/* ---- Graphs
 *
 * A graph is directed; the vertices are 0 .. vertices-1. Either all edges have weights, or none has
 * one and each counts as 1. */

typedef struct tutti_graph tutti_graph;

/* Set `size` to sizeof(tutti_graph_load_options), so that later versions can add members. NULL or 0
 * in another member is the default. */
typedef struct tutti_graph_load_options {
  size_t size;
  /* "auto" (the default), "el", "wel", "mtx", "gap" or "metis". */
  const char* format;
  /* The largest number of vertices; the default is 2^28. */
  uint32_t vertices_at_most;
  /* The largest size of a compressed file after decompression; the default is 2^36 bytes. */
  uint64_t bytes_at_most;
  /* The number of threads that build the rows; the default is 1. */
  uint32_t threads;
} tutti_graph_load_options;

/* Reads a graph from a file; `options` may be NULL. On success *out is the graph; otherwise it is
 * NULL.
 * Errors: TUTTI_EINVAL (out or path is NULL; the size of the options), TUTTI_ENAME (the format),
 * TUTTI_ENOTSUP (the options set a member of a later version), TUTTI_EFILE (the file cannot be
 * read, is not such a graph, or has a graph that does not fit into memory). */
TUTTI_API int tutti_graph_load(tutti_graph** out, const char* path,
                               const tutti_graph_load_options* options);

/* Makes a graph by a rule, such as "kron:scale=16,degree=16"; `tutti graph --list` lists the rules.
 * Errors: TUTTI_EINVAL (a pointer is NULL; the rule), TUTTI_ENOMEM. */
TUTTI_API int tutti_graph_generate(tutti_graph** out, const char* rule);

/* Makes a graph of edges from sources[i] to targets[i], with weights[i] unless weights is NULL. It
 * copies the arrays.
 * Errors: TUTTI_EINVAL (out is NULL; sources or targets is NULL while edges > 0; a vertex is not
 * below `vertices`; a weight is not finite), TUTTI_ENOMEM. */
TUTTI_API int tutti_graph_from_edges(tutti_graph** out, uint32_t vertices, const uint32_t* sources,
                                     const uint32_t* targets, const float* weights, uint64_t edges);

/* Destroys the graph. It ignores NULL. */
TUTTI_API void tutti_graph_destroy(tutti_graph* graph);

/* They return the number of vertices, the number of edges, and 1 if the edges have weights,
 * otherwise 0. If `graph` is NULL, all return 0. */
TUTTI_API uint32_t tutti_graph_vertices(const tutti_graph* graph);
TUTTI_API uint64_t tutti_graph_edges(const tutti_graph* graph);
TUTTI_API int tutti_graph_is_weighted(const tutti_graph* graph);

/* ---- Applications */

typedef enum tutti_graph_mode {
  /* In steps: a step ends when no message is under way. */
  TUTTI_GRAPH_SYNC = 0,
  /* Without steps. */
  TUTTI_GRAPH_ASYNC = 1
} tutti_graph_mode;

/* Set `size` to sizeof(tutti_graph_options), so that later versions can add members. NULL or 0 in
 * another member is the default. */
typedef struct tutti_graph_options {
  size_t size;
  /* The number of threads; 0: one for each core. */
  uint32_t threads;
  /* The number of participants, which are virtual ranks if there are more than threads; 0: one for
   * each thread. */
  uint32_t ranks;
  /* A tutti_graph_mode. */
  int mode;
  /* Nonzero: messages to the same vertex are combined before they are sent, where that makes fewer
   * of them. PageRank without steps cannot combine, and refuses. */
  int combine;
  /* The longest time for the run, in nanoseconds; 0: without limit. Participants look at the clock
   * every few hundred messages, and once in each step. */
  uint64_t limit_ns;
  /* "edge-blocks" (the default), "blocks", "random", "streaming", "ldg" or "metis". */
  const char* partition;
  /* The name of a detector of termination. */
  const char* detector;
  /* The name of a wait policy. */
  const char* wait;
} tutti_graph_options;

/* What a run did. Set `size` to sizeof(tutti_graph_statistics) before the call. */
typedef struct tutti_graph_statistics {
  size_t size;
  /* Steps that all vertices made. */
  uint64_t steps;
  /* Messages along edges. */
  uint64_t messages;
  /* Contents sent from one participant to another. */
  uint64_t packets;
  /* The messages along edges that were combined, and the contents that they became. */
  uint64_t combined, combined_packets;
  /* Seconds to cut the graph for the participants, and seconds of the run. */
  double cut_seconds, run_seconds;
} tutti_graph_statistics;

/* For all applications `options` and `statistics` may be NULL, and `count` is the number of
 * elements of each array, which must be the number of vertices. If a call fails, the arrays stay as
 * they were.
 * Errors of all: TUTTI_EINVAL (the graph or an array is NULL; count; the size of a struct; the
 * mode; the partition), TUTTI_ENAME (the detector or the wait policy), TUTTI_ENOTSUP (combine in a
 * mode that cannot; the wait policy; the partition "metis" if tutti was built without METIS; a
 * member of a later version), TUTTI_ETIMEDOUT (the limit), TUTTI_ENOMEM, TUTTI_ETHREAD,
 * TUTTI_ESYSTEM (METIS failed). */

/* How often a random walk visits each vertex; the ranks add up to 1. With a tolerance above 0 the
 * run also ends when no rank changes by more than tolerance / vertices.
 * Errors: TUTTI_EINVAL also if damping is not at least 0 and below 1, or tolerance is negative;
 * TUTTI_ENOTSUP also for a tolerance without steps. */
TUTTI_API int tutti_graph_pagerank(const tutti_graph* graph, uint64_t iterations, double damping,
                                   double tolerance, const tutti_graph_options* options,
                                   double* ranks, size_t count, tutti_graph_statistics* statistics);

/* Breadth-first search: the number of edges from `source`, and the vertex before, which is the one
 * with the lowest number of those that are one edge nearer; both are -1 if there is no way. The
 * source is its own parent. `parents` may be NULL.
 * Errors: TUTTI_EINVAL also if the source is not a vertex. */
TUTTI_API int tutti_graph_bfs(const tutti_graph* graph, uint32_t source,
                              const tutti_graph_options* options, int64_t* distances,
                              int64_t* parents, size_t count, tutti_graph_statistics* statistics);

/* The lowest vertex of the connected component of each vertex, whichever way the edges point. */
TUTTI_API int tutti_graph_components(const tutti_graph* graph, const tutti_graph_options* options,
                                     uint32_t* lowest, size_t count,
                                     tutti_graph_statistics* statistics);

/* Shortest paths: the distance from `source`, infinite if there is no way.
 * Errors: TUTTI_EINVAL also if the source is not a vertex, or a weight is negative. */
TUTTI_API int tutti_graph_sssp(const tutti_graph* graph, uint32_t source,
                               const tutti_graph_options* options, float* distances, size_t count,
                               tutti_graph_statistics* statistics);

#ifdef __cplusplus
}
#endif

#endif
