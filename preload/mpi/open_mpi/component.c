/* SPDX-License-Identifier: Apache-2.0
 * tutti as a component of Open MPI's collective framework: mca_coll_tutti.so. Open MPI finds it in
 * ~/.openmpi/components or in a folder of the parameter mca_base_component_path, asks it for every
 * communicator, and then calls its functions in place of those of the component with the next lower
 * priority, which it falls back on.
 *
 * Open MPI's headers are C, and belong to one version; this file is all that includes them. */
#include <stdatomic.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/mca.h"
#include "ompi/request/request.h"
#include "ompi_config.h"
#include "opal/mca/base/mca_base_var.h"
#include "preload/mpi/open_mpi/served.h"

static int priority = 90;

/* The functions of a communicator, and those that Open MPI would have called otherwise. */
typedef struct {
  mca_coll_base_module_t super;
  struct tutti_next_functions next;
} tutti_module;

OBJ_CLASS_DECLARATION(tutti_module);
OBJ_CLASS_INSTANCE(tutti_module, mca_coll_base_module_t, NULL, NULL);

static int enable(mca_coll_base_module_t* given, struct ompi_communicator_t* comm) {
  tutti_module* const module = (tutti_module*)given;
  const mca_coll_base_comm_coll_t* const before = comm->c_coll;
  struct tutti_next_functions* const next = &module->next;
  if (before->coll_barrier == NULL || before->coll_bcast == NULL ||
      before->coll_allreduce == NULL || before->coll_ibarrier == NULL)
    return OMPI_ERR_NOT_FOUND;
  next->barrier = before->coll_barrier;
  next->bcast = before->coll_bcast;
  next->allreduce = before->coll_allreduce;
  next->ibarrier = before->coll_ibarrier;
  next->barrier_module = before->coll_barrier_module;
  next->bcast_module = before->coll_bcast_module;
  next->allreduce_module = before->coll_allreduce_module;
  next->ibarrier_module = before->coll_ibarrier_module;
  OBJ_RETAIN(before->coll_barrier_module);
  OBJ_RETAIN(before->coll_bcast_module);
  OBJ_RETAIN(before->coll_allreduce_module);
  OBJ_RETAIN(before->coll_ibarrier_module);
  return OMPI_SUCCESS;
}

/* Gives a module back that enable() has kept. */
static void let_go(mca_coll_base_module_t** kept) {
  mca_coll_base_module_t* module = *kept;
  *kept = NULL;
  if (module != NULL) OBJ_RELEASE(module);
}

/* Open MPI calls it once for each function. */
static int disable(mca_coll_base_module_t* given, struct ompi_communicator_t* comm) {
  struct tutti_next_functions* const next = &((tutti_module*)given)->next;
  tutti_served_end(comm);
  let_go(&next->barrier_module);
  let_go(&next->bcast_module);
  let_go(&next->allreduce_module);
  let_go(&next->ibarrier_module);
  return OMPI_SUCCESS;
}

static int barrier(struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  return tutti_served_barrier(&((tutti_module*)module)->next, comm);
}
static int bcast(void* data, int count, struct ompi_datatype_t* type, int root,
                 struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  return tutti_served_bcast(&((tutti_module*)module)->next, data, count, type, root, comm);
}
static int allreduce(const void* mine, void* result, int count, struct ompi_datatype_t* type,
                     struct ompi_op_t* op, struct ompi_communicator_t* comm,
                     mca_coll_base_module_t* module) {
  return tutti_served_allreduce(&((tutti_module*)module)->next, mine, result, count, type, op,
                                comm);
}

/* Open MPI frees a generalized request at any time, and one of a collective call when it is
 * complete. */
static _Atomic(ompi_request_free_fn_t) free_generalized;
static int free_if_complete(ompi_request_t** request) {
  if (!REQUEST_COMPLETE(*request)) return MPI_ERR_REQUEST;
  /* relaxed: every store is of the same function, which was there before. */
  return atomic_load_explicit(&free_generalized, memory_order_relaxed)(request);
}
static int ibarrier(struct ompi_communicator_t* comm, ompi_request_t** request,
                    mca_coll_base_module_t* module) {
  const int error = tutti_served_ibarrier(&((tutti_module*)module)->next, comm, request);
  if (error == MPI_SUCCESS && (*request)->req_type == OMPI_REQUEST_GEN) {
    /* relaxed: the request that a thread frees carries the order. */
    atomic_store_explicit(&free_generalized, (*request)->req_free, memory_order_relaxed);
    (*request)->req_free = free_if_complete;
  }
  return error;
}

static mca_coll_base_module_t* comm_query(struct ompi_communicator_t* comm, int* out) {
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || priority <= 0) return NULL;
  tutti_module* const module = OBJ_NEW(tutti_module);
  if (module == NULL) return NULL;
  module->next = (struct tutti_next_functions){0};
  module->super.coll_module_enable = enable;
  module->super.coll_module_disable = disable;
  module->super.coll_barrier = barrier;
  module->super.coll_bcast = bcast;
  module->super.coll_allreduce = allreduce;
  module->super.coll_ibarrier = ibarrier;
  *out = priority;
  return &module->super;
}

static int init_query(bool progress_threads, bool mpi_threads) {
  (void)progress_threads;
  (void)mpi_threads;
  tutti_served_begin();
  return OMPI_SUCCESS;
}

static int register_parameters(void);

/* Open MPI looks for this name. */
__attribute__((visibility("default"))) mca_coll_base_component_2_0_0_t mca_coll_tutti_component = {
    .collm_version =
        {
            MCA_COLL_BASE_VERSION_2_0_0,
            .mca_component_name = "tutti",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                  OMPI_RELEASE_VERSION),
            .mca_register_component_params = register_parameters,
        },
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

static int register_parameters(void) {
  const int index = mca_base_component_var_register(
      &mca_coll_tutti_component.collm_version, "priority",
      "Priority of tutti's barrier, broadcast and allreduce in shared memory; 0 switches it off",
      MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, &priority);
  return index < 0 ? index : OMPI_SUCCESS;
}
