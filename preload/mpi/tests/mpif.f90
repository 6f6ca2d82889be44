! SPDX-License-Identifier: Apache-2.0
! The collective calls by the interface of Fortran 77, with constants that are variables in Fortran.
program mpif
  implicit none
  include 'mpif.h'
  integer :: error, rank, ranks, i, request
  integer :: numbers(3)
  double precision :: mine, all, own(2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, 100
    call MPI_Barrier(MPI_COMM_WORLD, error)
    numbers = 0
    if (rank == mod(i, ranks)) numbers = (/ i, i + 1, i + 2 /)
    call MPI_Bcast(numbers, 3, MPI_INTEGER, mod(i, ranks), MPI_COMM_WORLD, error)
    if (any(numbers /= (/ i, i + 1, i + 2 /))) call wrong('MPI_Bcast')
    mine = rank + i
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (all /= ranks * i + ranks * (ranks - 1) / 2) call wrong('MPI_Allreduce')
    own = (/ dble(rank), dble(-rank) /)
    call MPI_Allreduce(MPI_IN_PLACE, own, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    if (own(1) /= ranks - 1 .or. own(2) /= 0) call wrong('MPI_IN_PLACE')
    call MPI_Ibarrier(MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Finalize(error)
  if (rank == 0) print '(a)', 'all scenarios held'
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(2a)', what, ' has a wrong result'
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine wrong
end program mpif
