// SPDX-License-Identifier: Apache-2.0
// OpenMP's routines for programs that clang compiled: LLVM's library gives all symbols one version,
// which is named VERSION. Each is a jump to the routine with libgomp's version. The jumps are in a
// file of their own, because the linker would drop libgomp's version of a symbol of the same file.
#if defined(__x86_64__)
#define TUTTI_JUMP "jmp "
#define TUTTI_LINKAGE "@PLT"
#else
#define TUTTI_JUMP "b "
#define TUTTI_LINKAGE ""
#endif
#define TUTTI_ALSO(name)                                                                       \
  __asm__(".pushsection .text\n.globl tutti_clang_" #name "\n.type tutti_clang_" #name         \
          ", %function\ntutti_clang_" #name ":\n" TUTTI_JUMP #name TUTTI_LINKAGE               \
          "\n.size tutti_clang_" #name ", .-tutti_clang_" #name "\n.symver tutti_clang_" #name \
          ", " #name "@VERSION\n.popsection")

// A second name of a function.
#define TUTTI_SECOND_NAME(name, of)                                                  \
  __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name \
          ":\n" TUTTI_JUMP #of TUTTI_LINKAGE "\n.size " #name ", .-" #name "\n.popsection")

// LLVM's omp.h gives some routines other names in C.
#define TUTTI_IN_C(name) TUTTI_SECOND_NAME(ompc_##name, omp_##name)

TUTTI_IN_C(capture_affinity);
TUTTI_IN_C(get_ancestor_thread_num);
TUTTI_IN_C(get_team_size);
TUTTI_IN_C(set_dynamic);
TUTTI_IN_C(set_max_active_levels);
TUTTI_IN_C(set_nested);
TUTTI_IN_C(set_num_threads);
TUTTI_IN_C(set_schedule);
TUTTI_IN_C(display_affinity);
TUTTI_IN_C(get_affinity_format);
TUTTI_IN_C(set_affinity_format);

// Its library has two names for these.
TUTTI_SECOND_NAME(kmpc_aligned_malloc, kmp_aligned_malloc);
TUTTI_SECOND_NAME(kmpc_calloc, kmp_calloc);
TUTTI_SECOND_NAME(kmpc_free, kmp_free);
TUTTI_SECOND_NAME(kmpc_get_affinity_mask_proc, kmp_get_affinity_mask_proc);
TUTTI_SECOND_NAME(kmpc_malloc, kmp_malloc);
TUTTI_SECOND_NAME(kmpc_realloc, kmp_realloc);
TUTTI_SECOND_NAME(kmpc_set_affinity_mask_proc, kmp_set_affinity_mask_proc);
TUTTI_SECOND_NAME(kmpc_set_blocktime, kmp_set_blocktime);
TUTTI_SECOND_NAME(kmpc_set_defaults, kmp_set_defaults);
TUTTI_SECOND_NAME(kmpc_set_disp_num_buffers, kmp_set_disp_num_buffers);
TUTTI_SECOND_NAME(kmpc_set_library, kmp_set_library);
TUTTI_SECOND_NAME(kmpc_set_stacksize, kmp_set_stacksize);
TUTTI_SECOND_NAME(kmpc_set_stacksize_s, kmp_set_stacksize_s);
TUTTI_SECOND_NAME(kmpc_unset_affinity_mask_proc, kmp_unset_affinity_mask_proc);

TUTTI_ALSO(omp_aligned_alloc);
TUTTI_ALSO(omp_aligned_calloc);
TUTTI_ALSO(omp_alloc);
TUTTI_ALSO(omp_calloc);
TUTTI_ALSO(omp_capture_affinity);
TUTTI_ALSO(omp_control_tool);
TUTTI_ALSO(omp_control_tool_);
TUTTI_ALSO(omp_destroy_allocator);
TUTTI_ALSO(omp_destroy_allocator_);
TUTTI_ALSO(omp_destroy_lock);
TUTTI_ALSO(omp_destroy_lock_);
TUTTI_ALSO(omp_destroy_nest_lock_);
TUTTI_ALSO(omp_display_affinity);
TUTTI_ALSO(omp_display_env);
TUTTI_ALSO(omp_display_env_);
TUTTI_ALSO(omp_free);
TUTTI_ALSO(omp_fulfill_event);
TUTTI_ALSO(omp_fulfill_event_);
TUTTI_ALSO(omp_get_active_level);
TUTTI_ALSO(omp_get_active_level_);
TUTTI_ALSO(omp_get_affinity_format);
TUTTI_ALSO(omp_get_ancestor_thread_num);
TUTTI_ALSO(omp_get_ancestor_thread_num_);
TUTTI_ALSO(omp_get_cancellation);
TUTTI_ALSO(omp_get_cancellation_);
TUTTI_ALSO(omp_get_default_allocator);
TUTTI_ALSO(omp_get_default_allocator_);
TUTTI_ALSO(omp_get_default_device);
TUTTI_ALSO(omp_get_default_device_);
TUTTI_ALSO(omp_get_device_num);
TUTTI_ALSO(omp_get_device_num_);
TUTTI_ALSO(omp_get_dynamic);
TUTTI_ALSO(omp_get_dynamic_);
TUTTI_ALSO(omp_get_initial_device);
TUTTI_ALSO(omp_get_initial_device_);
TUTTI_ALSO(omp_get_level);
TUTTI_ALSO(omp_get_level_);
TUTTI_ALSO(omp_get_max_active_levels);
TUTTI_ALSO(omp_get_max_active_levels_);
TUTTI_ALSO(omp_get_max_task_priority);
TUTTI_ALSO(omp_get_max_task_priority_);
TUTTI_ALSO(omp_get_max_teams);
TUTTI_ALSO(omp_get_max_teams_);
TUTTI_ALSO(omp_get_max_threads);
TUTTI_ALSO(omp_get_max_threads_);
TUTTI_ALSO(omp_get_nested);
TUTTI_ALSO(omp_get_nested_);
TUTTI_ALSO(omp_get_num_devices);
TUTTI_ALSO(omp_get_num_devices_);
TUTTI_ALSO(omp_get_num_places);
TUTTI_ALSO(omp_get_num_places_);
TUTTI_ALSO(omp_get_num_procs);
TUTTI_ALSO(omp_get_num_procs_);
TUTTI_ALSO(omp_get_num_teams);
TUTTI_ALSO(omp_get_num_teams_);
TUTTI_ALSO(omp_get_num_threads);
TUTTI_ALSO(omp_get_num_threads_);
TUTTI_ALSO(omp_get_partition_num_places);
TUTTI_ALSO(omp_get_partition_num_places_);
TUTTI_ALSO(omp_get_partition_place_nums);
TUTTI_ALSO(omp_get_partition_place_nums_);
TUTTI_ALSO(omp_get_place_num);
TUTTI_ALSO(omp_get_place_num_);
TUTTI_ALSO(omp_get_place_num_procs);
TUTTI_ALSO(omp_get_place_num_procs_);
TUTTI_ALSO(omp_get_place_proc_ids);
TUTTI_ALSO(omp_get_place_proc_ids_);
TUTTI_ALSO(omp_get_proc_bind);
TUTTI_ALSO(omp_get_proc_bind_);
TUTTI_ALSO(omp_get_schedule);
TUTTI_ALSO(omp_get_schedule_);
TUTTI_ALSO(omp_get_supported_active_levels);
TUTTI_ALSO(omp_get_supported_active_levels_);
TUTTI_ALSO(omp_get_team_num);
TUTTI_ALSO(omp_get_team_num_);
TUTTI_ALSO(omp_get_team_size);
TUTTI_ALSO(omp_get_team_size_);
TUTTI_ALSO(omp_get_teams_thread_limit);
TUTTI_ALSO(omp_get_teams_thread_limit_);
TUTTI_ALSO(omp_get_thread_limit);
TUTTI_ALSO(omp_get_thread_limit_);
TUTTI_ALSO(omp_get_thread_num);
TUTTI_ALSO(omp_get_thread_num_);
TUTTI_ALSO(omp_get_wtick);
TUTTI_ALSO(omp_get_wtick_);
TUTTI_ALSO(omp_get_wtime);
TUTTI_ALSO(omp_get_wtime_);
TUTTI_ALSO(omp_in_final);
TUTTI_ALSO(omp_in_final_);
TUTTI_ALSO(omp_in_parallel);
TUTTI_ALSO(omp_in_parallel_);
TUTTI_ALSO(omp_init_allocator);
TUTTI_ALSO(omp_init_allocator_);
TUTTI_ALSO(omp_init_lock);
TUTTI_ALSO(omp_init_lock_);
TUTTI_ALSO(omp_init_lock_with_hint);
TUTTI_ALSO(omp_init_lock_with_hint_);
TUTTI_ALSO(omp_init_nest_lock_);
TUTTI_ALSO(omp_init_nest_lock_with_hint_);
TUTTI_ALSO(omp_is_initial_device);
TUTTI_ALSO(omp_is_initial_device_);
TUTTI_ALSO(omp_realloc);
TUTTI_ALSO(omp_set_affinity_format);
TUTTI_ALSO(omp_set_default_allocator);
TUTTI_ALSO(omp_set_default_allocator_);
TUTTI_ALSO(omp_set_default_device);
TUTTI_ALSO(omp_set_default_device_);
TUTTI_ALSO(omp_set_dynamic);
TUTTI_ALSO(omp_set_dynamic_);
TUTTI_ALSO(omp_set_lock);
TUTTI_ALSO(omp_set_lock_);
TUTTI_ALSO(omp_set_max_active_levels);
TUTTI_ALSO(omp_set_max_active_levels_);
TUTTI_ALSO(omp_set_nest_lock_);
TUTTI_ALSO(omp_set_nested);
TUTTI_ALSO(omp_set_nested_);
TUTTI_ALSO(omp_set_num_teams);
TUTTI_ALSO(omp_set_num_teams_);
TUTTI_ALSO(omp_set_num_threads);
TUTTI_ALSO(omp_set_num_threads_);
TUTTI_ALSO(omp_set_schedule);
TUTTI_ALSO(omp_set_schedule_);
TUTTI_ALSO(omp_set_teams_thread_limit);
TUTTI_ALSO(omp_set_teams_thread_limit_);
TUTTI_ALSO(omp_test_lock);
TUTTI_ALSO(omp_test_lock_);
TUTTI_ALSO(omp_test_nest_lock_);
TUTTI_ALSO(omp_unset_lock);
TUTTI_ALSO(omp_unset_lock_);
TUTTI_ALSO(omp_unset_nest_lock_);
