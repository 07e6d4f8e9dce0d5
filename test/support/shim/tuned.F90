! Runs collectives from Fortran and compares each element with what MPI demands, in place too. Compiled with WITH_F08 it uses the
! module mpi_f08, with WITH_MPIF mpif.h, else the module mpi.
program tuned
#if defined(WITH_F08)
  use mpi_f08
#elif !defined(WITH_MPIF)
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: calls = 20, room = 64
  integer :: rank, ranks, code, call_number, i, wrong, all_wrong
  integer :: own(room), all(room), counts(room)

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  counts = 1
  wrong = 0
  do call_number = 1, calls
    own = rank + 1
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_Bcast(own, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
    wrong = wrong + count(own(1:4) /= 2)
    own = rank + 1
    call MPI_Allreduce(own, all, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    wrong = wrong + count(all(1:4) /= ranks * (ranks + 1) / 2)
    all = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, all, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
    wrong = wrong + count(all(1:4) /= ranks)
    all = 0
    call MPI_Allgather(own, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, code)
    wrong = wrong + count(all(1:ranks) /= [(i, i = 1, ranks)])
    call MPI_Alltoall(all, 1, MPI_INTEGER, own, 1, MPI_INTEGER, MPI_COMM_WORLD, code)
    wrong = wrong + count(own(1:ranks) /= rank + 1)
    own = rank + 1
    all = rank + 1
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
      wrong = wrong + count(all(1:ranks) /= [(i, i = 1, ranks)])
      call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    else
      call MPI_Gather(own, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
      own = 0
      call MPI_Scatter(all, 1, MPI_INTEGER, own, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
      wrong = wrong + count(own(1:1) /= rank + 1)
    end if
    own = rank + 1
    call MPI_Reduce(own, all, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
    if (rank == 0) wrong = wrong + count(all(1:4) /= ranks * (ranks + 1) / 2)
    call MPI_Reduce_scatter(own, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    wrong = wrong + count(all(1:1) /= ranks * (ranks + 1) / 2)
    call MPI_Reduce_scatter_block(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    wrong = wrong + count(all(1:1) /= ranks * (ranks + 1) / 2)
    call MPI_Scan(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    wrong = wrong + count(all(1:1) /= (rank + 1) * (rank + 2) / 2)
    all = rank + 1
    call MPI_Exscan(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    if (rank > 0) wrong = wrong + count(all(1:1) /= rank * (rank + 1) / 2)
  end do
  call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0,a)', 'right: ', all_wrong, ' wrong elements'
  call MPI_Finalize(code)
end program tuned
