/* SPDX-License-Identifier: Apache-2.0
 * Prints the numbers and layouts of OMPT. A test compares the lines of tutti's header with those of
 * LLVM's. */
#include <stdio.h>
#ifndef OMP_TOOLS_HEADER
#define OMP_TOOLS_HEADER "preload/openmp/ompt/omp-tools.h"
#endif
#include OMP_TOOLS_HEADER

#define NUMBER(name) printf("%s %llu\n", #name, (unsigned long long)(unsigned)(name))
#define LAYOUT(type, member)                                               \
  printf("%s.%s %zu %zu of %zu\n", #type, #member, offsetof(type, member), \
         sizeof(((type*)0)->member), sizeof(type))
/* The type of a function is the same in both headers if both lines compile. */
#define SAME_TYPE(name, ...)                    \
  do {                                          \
    name const function = (__VA_ARGS__)0;       \
    printf("%s %d\n", #name, function == NULL); \
  } while (0)

int main(void) {
  NUMBER(ompt_callback_thread_begin);
  NUMBER(ompt_callback_thread_end);
  NUMBER(ompt_callback_parallel_begin);
  NUMBER(ompt_callback_parallel_end);
  NUMBER(ompt_callback_task_create);
  NUMBER(ompt_callback_task_schedule);
  NUMBER(ompt_callback_implicit_task);
  NUMBER(ompt_callback_target);
  NUMBER(ompt_callback_target_data_op);
  NUMBER(ompt_callback_target_submit);
  NUMBER(ompt_callback_control_tool);
  NUMBER(ompt_callback_device_initialize);
  NUMBER(ompt_callback_device_finalize);
  NUMBER(ompt_callback_device_load);
  NUMBER(ompt_callback_device_unload);
  NUMBER(ompt_callback_sync_region_wait);
  NUMBER(ompt_callback_mutex_released);
  NUMBER(ompt_callback_dependences);
  NUMBER(ompt_callback_task_dependence);
  NUMBER(ompt_callback_work);
  NUMBER(ompt_callback_masked);
  NUMBER(ompt_callback_target_map);
  NUMBER(ompt_callback_sync_region);
  NUMBER(ompt_callback_lock_init);
  NUMBER(ompt_callback_lock_destroy);
  NUMBER(ompt_callback_mutex_acquire);
  NUMBER(ompt_callback_mutex_acquired);
  NUMBER(ompt_callback_nest_lock);
  NUMBER(ompt_callback_flush);
  NUMBER(ompt_callback_cancel);
  NUMBER(ompt_callback_reduction);
  NUMBER(ompt_callback_dispatch);
  NUMBER(ompt_callback_target_emi);
  NUMBER(ompt_callback_target_data_op_emi);
  NUMBER(ompt_callback_target_submit_emi);
  NUMBER(ompt_callback_target_map_emi);
  NUMBER(ompt_callback_error);
  NUMBER(ompt_set_error);
  NUMBER(ompt_set_never);
  NUMBER(ompt_set_impossible);
  NUMBER(ompt_set_sometimes);
  NUMBER(ompt_set_sometimes_paired);
  NUMBER(ompt_set_always);
  NUMBER(ompt_thread_initial);
  NUMBER(ompt_thread_worker);
  NUMBER(ompt_thread_other);
  NUMBER(ompt_thread_unknown);
  NUMBER(ompt_scope_begin);
  NUMBER(ompt_scope_end);
  NUMBER(ompt_scope_beginend);
  NUMBER(ompt_dispatch_iteration);
  NUMBER(ompt_dispatch_section);
  NUMBER(ompt_sync_region_barrier);
  NUMBER(ompt_sync_region_barrier_implicit);
  NUMBER(ompt_sync_region_barrier_explicit);
  NUMBER(ompt_sync_region_barrier_implementation);
  NUMBER(ompt_sync_region_taskwait);
  NUMBER(ompt_sync_region_taskgroup);
  NUMBER(ompt_sync_region_reduction);
  NUMBER(ompt_sync_region_barrier_implicit_workshare);
  NUMBER(ompt_sync_region_barrier_implicit_parallel);
  NUMBER(ompt_sync_region_barrier_teams);
  NUMBER(ompt_work_loop);
  NUMBER(ompt_work_sections);
  NUMBER(ompt_work_single_executor);
  NUMBER(ompt_work_single_other);
  NUMBER(ompt_work_workshare);
  NUMBER(ompt_work_distribute);
  NUMBER(ompt_work_taskloop);
  NUMBER(ompt_work_scope);
  NUMBER(ompt_mutex_lock);
  NUMBER(ompt_mutex_test_lock);
  NUMBER(ompt_mutex_nest_lock);
  NUMBER(ompt_mutex_test_nest_lock);
  NUMBER(ompt_mutex_critical);
  NUMBER(ompt_mutex_atomic);
  NUMBER(ompt_mutex_ordered);
  NUMBER(ompt_task_initial);
  NUMBER(ompt_task_implicit);
  NUMBER(ompt_task_explicit);
  NUMBER(ompt_task_target);
  NUMBER(ompt_task_taskwait);
  NUMBER(ompt_task_undeferred);
  NUMBER(ompt_task_untied);
  NUMBER(ompt_task_final);
  NUMBER(ompt_task_mergeable);
  NUMBER(ompt_task_merged);
  NUMBER(ompt_task_complete);
  NUMBER(ompt_task_yield);
  NUMBER(ompt_task_cancel);
  NUMBER(ompt_task_detach);
  NUMBER(ompt_task_early_fulfill);
  NUMBER(ompt_task_late_fulfill);
  NUMBER(ompt_task_switch);
  NUMBER(ompt_taskwait_complete);
  NUMBER(ompt_parallel_invoker_program);
  NUMBER(ompt_parallel_invoker_runtime);
  NUMBER(ompt_parallel_league);
  NUMBER(ompt_parallel_team);
  NUMBER(ompt_dependence_type_in);
  NUMBER(ompt_dependence_type_out);
  NUMBER(ompt_dependence_type_inout);
  NUMBER(ompt_dependence_type_mutexinoutset);
  NUMBER(ompt_dependence_type_source);
  NUMBER(ompt_dependence_type_sink);
  NUMBER(ompt_dependence_type_inoutset);
  NUMBER(ompt_warning);
  NUMBER(ompt_fatal);
  NUMBER(ompt_cancel_parallel);
  NUMBER(ompt_cancel_sections);
  NUMBER(ompt_cancel_loop);
  NUMBER(ompt_cancel_taskgroup);
  NUMBER(ompt_cancel_activated);
  NUMBER(ompt_cancel_detected);
  NUMBER(ompt_cancel_discarded_task);
  NUMBER(ompt_frame_runtime);
  NUMBER(ompt_frame_application);
  NUMBER(ompt_frame_cfa);
  NUMBER(ompt_frame_framepointer);
  NUMBER(ompt_frame_stackaddress);
  NUMBER(ompt_state_work_serial);
  NUMBER(ompt_state_work_parallel);
  NUMBER(ompt_state_work_reduction);
  NUMBER(ompt_state_wait_barrier);
  NUMBER(ompt_state_wait_barrier_implicit_parallel);
  NUMBER(ompt_state_wait_barrier_implicit_workshare);
  NUMBER(ompt_state_wait_barrier_implicit);
  NUMBER(ompt_state_wait_barrier_explicit);
  NUMBER(ompt_state_wait_barrier_implementation);
  NUMBER(ompt_state_wait_barrier_teams);
  NUMBER(ompt_state_wait_taskwait);
  NUMBER(ompt_state_wait_taskgroup);
  NUMBER(ompt_state_wait_mutex);
  NUMBER(ompt_state_wait_lock);
  NUMBER(ompt_state_wait_critical);
  NUMBER(ompt_state_wait_atomic);
  NUMBER(ompt_state_wait_ordered);
  NUMBER(ompt_state_wait_target);
  NUMBER(ompt_state_wait_target_map);
  NUMBER(ompt_state_wait_target_update);
  NUMBER(ompt_state_idle);
  NUMBER(ompt_state_overhead);
  NUMBER(ompt_state_undefined);
  LAYOUT(ompt_data_t, value);
  LAYOUT(ompt_data_t, ptr);
  LAYOUT(ompt_dependence_t, variable);
  LAYOUT(ompt_dependence_t, dependence_type);
  LAYOUT(ompt_frame_t, exit_frame);
  LAYOUT(ompt_frame_t, enter_frame);
  LAYOUT(ompt_frame_t, exit_frame_flags);
  LAYOUT(ompt_frame_t, enter_frame_flags);
  LAYOUT(ompt_start_tool_result_t, initialize);
  LAYOUT(ompt_start_tool_result_t, finalize);
  LAYOUT(ompt_start_tool_result_t, tool_data);
  SAME_TYPE(ompt_interface_fn_t, void (*)(void));
  SAME_TYPE(ompt_function_lookup_t, ompt_interface_fn_t(*)(const char* interface_function_name));
  SAME_TYPE(ompt_callback_t, void (*)(void));
  SAME_TYPE(ompt_initialize_t,
            int (*)(ompt_function_lookup_t lookup, int initial_device_num, ompt_data_t* tool_data));
  SAME_TYPE(ompt_finalize_t, void (*)(ompt_data_t * tool_data));
  SAME_TYPE(ompt_callback_thread_begin_t,
            void (*)(ompt_thread_t thread_type, ompt_data_t * thread_data));
  SAME_TYPE(ompt_callback_thread_end_t, void (*)(ompt_data_t * thread_data));
  SAME_TYPE(ompt_callback_parallel_begin_t,
            void (*)(ompt_data_t * encountering_task_data,
                     const ompt_frame_t* encountering_task_frame, ompt_data_t* parallel_data,
                     unsigned int requested_parallelism, int flags, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_parallel_end_t,
            void (*)(ompt_data_t * parallel_data, ompt_data_t * encountering_task_data, int flags,
                     const void* codeptr_ra));
  SAME_TYPE(ompt_callback_work_t, void (*)(ompt_work_t work_type, ompt_scope_endpoint_t endpoint,
                                           ompt_data_t * parallel_data, ompt_data_t * task_data,
                                           uint64_t count, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_dispatch_t, void (*)(ompt_data_t * parallel_data, ompt_data_t * task_data,
                                               ompt_dispatch_t kind, ompt_data_t instance));
  SAME_TYPE(
      ompt_callback_task_create_t,
      void (*)(ompt_data_t * encountering_task_data, const ompt_frame_t* encountering_task_frame,
               ompt_data_t* new_task_data, int flags, int has_dependences, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_dependences_t,
            void (*)(ompt_data_t * task_data, const ompt_dependence_t* deps, int ndeps));
  SAME_TYPE(ompt_callback_task_dependence_t,
            void (*)(ompt_data_t * src_task_data, ompt_data_t * sink_task_data));
  SAME_TYPE(ompt_callback_task_schedule_t,
            void (*)(ompt_data_t * prior_task_data, ompt_task_status_t prior_task_status,
                     ompt_data_t * next_task_data));
  SAME_TYPE(
      ompt_callback_implicit_task_t,
      void (*)(ompt_scope_endpoint_t endpoint, ompt_data_t * parallel_data, ompt_data_t * task_data,
               unsigned int actual_parallelism, unsigned int index, int flags));
  SAME_TYPE(ompt_callback_masked_t,
            void (*)(ompt_scope_endpoint_t endpoint, ompt_data_t * parallel_data,
                     ompt_data_t * task_data, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_sync_region_t,
            void (*)(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                     ompt_data_t * parallel_data, ompt_data_t * task_data, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_mutex_acquire_t,
            void (*)(ompt_mutex_t kind, unsigned int hint, unsigned int impl,
                     ompt_wait_id_t wait_id, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_mutex_t,
            void (*)(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_nest_lock_t, void (*)(ompt_scope_endpoint_t endpoint,
                                                ompt_wait_id_t wait_id, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_flush_t, void (*)(ompt_data_t * thread_data, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_cancel_t,
            void (*)(ompt_data_t * task_data, int flags, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_control_tool_t,
            int (*)(uint64_t command, uint64_t modifier, void* arg, const void* codeptr_ra));
  SAME_TYPE(ompt_callback_error_t, void (*)(ompt_severity_t severity, const char* message,
                                            size_t length, const void* codeptr_ra));
  SAME_TYPE(ompt_enumerate_states_t,
            int (*)(int current_state, int* next_state, const char** next_state_name));
  SAME_TYPE(ompt_enumerate_mutex_impls_t,
            int (*)(int current_impl, int* next_impl, const char** next_impl_name));
  SAME_TYPE(ompt_set_callback_t,
            ompt_set_result_t(*)(ompt_callbacks_t event, ompt_callback_t callback));
  SAME_TYPE(ompt_get_callback_t, int (*)(ompt_callbacks_t event, ompt_callback_t * callback));
  SAME_TYPE(ompt_get_thread_data_t, ompt_data_t * (*)(void));
  SAME_TYPE(ompt_get_num_procs_t, int (*)(void));
  SAME_TYPE(ompt_get_num_places_t, int (*)(void));
  SAME_TYPE(ompt_get_place_proc_ids_t, int (*)(int place_num, int ids_size, int* ids));
  SAME_TYPE(ompt_get_place_num_t, int (*)(void));
  SAME_TYPE(ompt_get_partition_place_nums_t, int (*)(int place_nums_size, int* place_nums));
  SAME_TYPE(ompt_get_proc_id_t, int (*)(void));
  SAME_TYPE(ompt_get_state_t, int (*)(ompt_wait_id_t * wait_id));
  SAME_TYPE(ompt_get_parallel_info_t,
            int (*)(int ancestor_level, ompt_data_t** parallel_data, int* team_size));
  SAME_TYPE(ompt_get_task_info_t,
            int (*)(int ancestor_level, int* flags, ompt_data_t** task_data,
                    ompt_frame_t** task_frame, ompt_data_t** parallel_data, int* thread_num));
  SAME_TYPE(ompt_get_task_memory_t, int (*)(void** addr, size_t* size, int block));
  SAME_TYPE(ompt_get_target_info_t,
            int (*)(uint64_t * device_num, ompt_id_t * target_id, ompt_id_t * host_op_id));
  SAME_TYPE(ompt_get_num_devices_t, int (*)(void));
  SAME_TYPE(ompt_get_unique_id_t, uint64_t(*)(void));
  SAME_TYPE(ompt_finalize_tool_t, void (*)(void));
  return 0;
}
