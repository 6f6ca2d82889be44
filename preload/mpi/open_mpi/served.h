/* SPDX-License-Identifier: Apache-2.0
 * What Open MPI's component calls: C for component.c, in which Open MPI's headers are, and C++ for
 * served.cpp, in which they are not. */
#ifndef TUTTI_PRELOAD_MPI_OPEN_MPI_SERVED_H
#define TUTTI_PRELOAD_MPI_OPEN_MPI_SERVED_H

#ifdef __cplusplus
extern "C" {
#endif

struct ompi_communicator_t;
struct ompi_datatype_t;
struct ompi_op_t;
struct ompi_request_t;
struct mca_coll_base_module_2_3_0_t;

/* The functions of the component with the next lower priority, each with its module. */
struct tutti_next_functions {
  int (*barrier)(struct ompi_communicator_t* comm, struct mca_coll_base_module_2_3_0_t* module);
  int (*bcast)(void* data, int count, struct ompi_datatype_t* type, int root,
               struct ompi_communicator_t* comm, struct mca_coll_base_module_2_3_0_t* module);
  int (*allreduce)(const void* mine, void* result, int count, struct ompi_datatype_t* type,
                   struct ompi_op_t* op, struct ompi_communicator_t* comm,
                   struct mca_coll_base_module_2_3_0_t* module);
  int (*ibarrier)(struct ompi_communicator_t* comm, struct ompi_request_t** request,
                  struct mca_coll_base_module_2_3_0_t* module);
  struct mca_coll_base_module_2_3_0_t* barrier_module;
  struct mca_coll_base_module_2_3_0_t* bcast_module;
  struct mca_coll_base_module_2_3_0_t* allreduce_module;
  struct mca_coll_base_module_2_3_0_t* ibarrier_module;
};

/* Call the first one before any other, and the second one when a communicator ends. */
void tutti_served_begin(void);
void tutti_served_end(struct ompi_communicator_t* comm);

/* Serve a call, or leave it to the next component. They return MPI's error codes. */
int tutti_served_barrier(const struct tutti_next_functions* next, struct ompi_communicator_t* comm);
int tutti_served_bcast(const struct tutti_next_functions* next, void* data, int count,
                       struct ompi_datatype_t* type, int root, struct ompi_communicator_t* comm);
int tutti_served_allreduce(const struct tutti_next_functions* next, const void* mine, void* result,
                           int count, struct ompi_datatype_t* type, struct ompi_op_t* op,
                           struct ompi_communicator_t* comm);
int tutti_served_ibarrier(const struct tutti_next_functions* next, struct ompi_communicator_t* comm,
                          struct ompi_request_t** request);

#ifdef __cplusplus
}
#endif

#endif
