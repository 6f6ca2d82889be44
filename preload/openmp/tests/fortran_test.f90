! SPDX-License-Identifier: Apache-2.0
! Fortran: the routines of omp_lib with arguments of four and of eight bytes, and the constructs
! whose code gfortran makes in its own way.
module state
  implicit none
  integer :: mine = 0
  !$omp threadprivate(mine)
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    write (0, *) 'failed: ', what
    error stop 1
  end subroutine check
end module state

program fortran_test
  use omp_lib
  use state
  implicit none
  integer :: n, repeat
  n = omp_get_max_threads()
  do repeat = 1, 5
    call check_routines()
    call check_places()
    call check_allocators()
    call check_reductions()
    call check_order()
    call check_sharing()
    call check_threadprivate()
    call check_locks()
    call check_tasks()
    call check_arrays()
  end do
contains
  subroutine check_routines()
    integer(kind=omp_sched_kind) :: kind
    integer :: chunk
    integer(8) :: wide
    character(len=12) :: text
    call omp_set_affinity_format('level %L  ')
    call check(omp_get_affinity_format(text) == 10, 'omp_set_affinity_format')
    call check(omp_capture_affinity(text, ' ') == 1 .and. text == ' ', 'omp_capture_affinity')
    call check(omp_capture_affinity(text, '') == 9 .and. text == 'level 0  ', 'default format')
    call omp_set_num_threads(3)
    call check(omp_get_max_threads() == 3, 'omp_set_num_threads')
    wide = n
    call omp_set_num_threads(int(wide))
    call check(omp_get_max_threads() == n, 'omp_get_max_threads')
    call omp_set_schedule(omp_sched_guided, 7)
    call omp_get_schedule(kind, chunk)
    call check(kind == omp_sched_guided .and. chunk == 7, 'omp_get_schedule')
    call omp_set_schedule(ior(omp_sched_dynamic, ishft(1_omp_sched_kind, 31)), 5)
    call omp_get_schedule(kind, chunk)
    call check(kind == omp_sched_dynamic .and. chunk == 5, 'a monotonic schedule')
    call omp_set_dynamic(.true.)
    call check(logical(omp_get_dynamic()), 'omp_get_dynamic')
    call omp_set_dynamic(.false.)
    call check(logical(.not. omp_get_dynamic()), 'omp_set_dynamic')
    call check(logical(.not. omp_in_parallel()), 'omp_in_parallel')
    call check(omp_get_wtime() > 0 .and. omp_get_wtick() > 0, 'omp_get_wtime')
    call check(omp_get_team_size(0) == 1 .and. omp_get_ancestor_thread_num(0) == 0, 'level 0')
    call omp_set_max_active_levels(2)
    call check(omp_get_max_active_levels() == 2, 'omp_get_max_active_levels')
    call omp_set_max_active_levels(1)
    call check(omp_get_num_procs() >= 1, 'omp_get_num_procs')
    call omp_set_nested(.true.)
    call check(logical(omp_get_nested()), 'omp_set_nested')
    call omp_set_nested(.false.)
    call check(logical(.not. omp_get_nested()), 'omp_get_nested')
    call omp_set_num_teams(5)
    call check(omp_get_max_teams() == 5, 'omp_set_num_teams')
    call omp_set_num_teams(0)
    call omp_set_teams_thread_limit(6)
    call check(omp_get_teams_thread_limit() == 6, 'omp_set_teams_thread_limit')
    call omp_set_teams_thread_limit(0)
    call omp_set_default_device(0)
    call check(omp_get_default_device() == 0, 'omp_set_default_device')
  end subroutine check_routines

  subroutine check_places()
    integer :: place
    integer, allocatable :: numbers(:), places(:)
    allocate (places(omp_get_partition_num_places()))
    call omp_get_partition_place_nums(places)
    do place = 1, size(places)
      call check(places(place) == place - 1, 'omp_get_partition_place_nums')
      allocate (numbers(omp_get_place_num_procs(places(place))))
      numbers = -1
      call omp_get_place_proc_ids(places(place), numbers)
      call check(size(numbers) >= 1 .and. all(numbers >= 0), 'omp_get_place_proc_ids')
      deallocate (numbers)
    end do
  end subroutine check_places

  subroutine check_allocators()
    integer(kind=omp_allocator_handle_kind) :: allocator
    type(omp_alloctrait) :: traits(1)
    traits(1) = omp_alloctrait(omp_atk_alignment, 64)
    allocator = omp_init_allocator(omp_default_mem_space, 1, traits)
    call check(allocator /= omp_null_allocator, 'omp_init_allocator')
    call omp_destroy_allocator(allocator)
  end subroutine check_allocators

  subroutine check_reductions()
    integer :: i, least, bits
    real(8) :: total
    complex(8) :: sum_of_complex
    logical :: all_true
    real :: array(5)
    total = 0
    least = 1000
    bits = 0
    all_true = .true.
    array = 0
    sum_of_complex = 0
    !$omp parallel do reduction(+:total, array, sum_of_complex) reduction(min:least) &
    !$omp& reduction(ior:bits) reduction(.and.:all_true) schedule(dynamic, 3)
    do i = 1, 200
      total = total + i
      least = min(least, i + 4)
      bits = ior(bits, iand(i, 7))
      all_true = all_true .and. i > 0
      array = array + 1
      sum_of_complex = sum_of_complex + (1d0, 2d0)
    end do
    call check(total == 20100d0 .and. least == 5 .and. bits == 7 .and. all_true, 'reduction')
    call check(all(array == 200.0) .and. sum_of_complex == (200d0, 400d0), 'array reduction')
  end subroutine check_reductions

  subroutine check_order()
    integer :: i, next, last
    next = 1
    !$omp parallel do ordered schedule(dynamic, 2) lastprivate(last)
    do i = 1, 100
      !$omp ordered
      call check(next == i, 'ordered')
      next = next + 1
      !$omp end ordered
      last = i
    end do
    call check(next == 101 .and. last == 100, 'lastprivate')
  end subroutine check_order

  subroutine check_sharing()
    integer :: first, second, singles, copied
    first = 0
    second = 0
    singles = 0
    !$omp parallel private(copied)
    !$omp sections
    !$omp section
    first = first + 1
    !$omp section
    second = second + 1
    !$omp end sections
    copied = -1
    !$omp single
    singles = singles + 1
    copied = 42
    !$omp end single copyprivate(copied)
    call check(copied == 42, 'copyprivate')
    !$omp workshare
    first = first + 10
    !$omp end workshare
    !$omp end parallel
    call check(first == 11 .and. second == 1 .and. singles == 1, 'sections')
  end subroutine check_sharing

  subroutine check_threadprivate()
    mine = 77
    !$omp parallel copyin(mine)
    call check(mine == 77, 'copyin')
    mine = omp_get_thread_num()
    !$omp end parallel
    !$omp parallel
    call check(mine == omp_get_thread_num(), 'threadprivate')
    !$omp end parallel
  end subroutine check_threadprivate

  subroutine check_locks()
    integer(kind=omp_lock_kind) :: lock
    integer(kind=omp_nest_lock_kind) :: nest
    integer :: counted, nested, named, deep
    counted = 0
    nested = 0
    named = 0
    deep = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    !$omp parallel private(deep)
    call omp_set_lock(lock)
    counted = counted + 1
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest)
    deep = omp_test_nest_lock(nest)
    call check(deep == 2, 'omp_test_nest_lock')
    nested = nested + 1
    call omp_unset_nest_lock(nest)
    call omp_unset_nest_lock(nest)
    !$omp critical (name)
    named = named + 1
    !$omp end critical (name)
    !$omp end parallel
    call check(counted == n .and. nested == n .and. named == n, 'locks')
    call check(logical(omp_test_lock(lock)), 'omp_test_lock')
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
  end subroutine check_locks

  recursive integer function fibonacci(k) result(value)
    integer, intent(in) :: k
    integer :: a, b
    if (k < 2) then
      value = k
      return
    end if
    !$omp task shared(a)
    a = fibonacci(k - 1)
    !$omp end task
    !$omp task shared(b) if (k > 4)
    b = fibonacci(k - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function fibonacci

  subroutine check_tasks()
    integer :: answer, i, x, after, hits(50)
    integer(kind=omp_event_handle_kind) :: event
    hits = 0
    x = 0
    !$omp parallel
    !$omp single
    answer = fibonacci(12)
    !$omp taskloop grainsize(4)
    do i = 1, 50
      hits(i) = hits(i) + 1
    end do
    !$omp end taskloop
    do i = 1, 10
      !$omp task depend(inout: x) firstprivate(i)
      call check(x == i - 1, 'depend')
      x = i
      !$omp end task
    end do
    !$omp task detach(event) depend(out: after)
    after = 1
    !$omp end task
    !$omp task depend(inout: after)
    after = after + 1
    !$omp end task
    call omp_fulfill_event(event)
    !$omp taskwait
    call check(after == 2, 'omp_fulfill_event')
    !$omp end single
    !$omp end parallel
    call check(answer == 144 .and. all(hits == 1) .and. x == 10, 'tasks')
  end subroutine check_tasks

  subroutine check_arrays()
    real, allocatable :: values(:)
    integer :: i
    allocate (values(100))
    values = 1
    !$omp parallel do firstprivate(values) schedule(runtime)
    do i = 1, 100
      values(i) = values(i) + i
    end do
    call check(all(values == 1), 'firstprivate array')
    !$omp parallel do simd schedule(static)
    do i = 1, 100
      values(i) = real(i)
    end do
    call check(sum(values) == 5050.0, 'simd')
  end subroutine check_arrays
end program fortran_test
