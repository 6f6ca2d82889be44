! SPDX-License-Identifier: Apache-2.0
! The same calls by the module mpi_f08.
program f08
  use mpi_f08
  implicit none
  integer :: rank, ranks, i
  integer :: numbers(3)
  double precision :: mine, all, own(2)
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do i = 1, 100
    call MPI_Barrier(MPI_COMM_WORLD)
    numbers = 0
    if (rank == mod(i, ranks)) numbers = (/ i, i + 1, i + 2 /)
    call MPI_Bcast(numbers, 3, MPI_INTEGER, mod(i, ranks), MPI_COMM_WORLD)
    if (any(numbers /= (/ i, i + 1, i + 2 /))) call wrong('MPI_Bcast')
    mine = rank + i
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (all /= ranks * i + ranks * (ranks - 1) / 2) call wrong('MPI_Allreduce')
    own = (/ dble(rank), dble(-rank) /)
    call MPI_Allreduce(MPI_IN_PLACE, own, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    if (own(1) /= ranks - 1 .or. own(2) /= 0) call wrong('MPI_IN_PLACE')
    call MPI_Ibarrier(MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end do
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'all scenarios held'
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(2a)', what, ' has a wrong result'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine wrong
end program f08
