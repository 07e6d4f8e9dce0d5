! Starts reductions from Fortran and compares each element with what MPI demands. Compiled with WITH_F08 it uses the module mpi_f08,
! with WITH_MPIF mpif.h, else the module mpi. INIT is the name of the persistent allreduce, if there is one.
program reductions
#if defined(WITH_F08)
  use mpi_f08
#elif !defined(WITH_MPIF)
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: room = 64
  integer :: rank, ranks, code, wrong, all_wrong, counts(room)
  double precision, asynchronous :: own(room), all(room)
#ifdef WITH_F08
  type(MPI_Request) :: request
#else
  integer :: request
#endif

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  counts = 1
  wrong = 0
  own = rank + 1
  call MPI_Iallreduce(own, all, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, code)
  call check(4, ranks * (ranks + 1) / 2)
  call MPI_Ireduce(own, all, 4, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, request, code)
  call check(merge(4, 0, rank == 0), ranks * (ranks + 1) / 2)
  call MPI_Ireduce_scatter_block(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, code)
  call check(1, ranks * (ranks + 1) / 2)
  call MPI_Ireduce_scatter(own, all, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, code)
  call check(1, ranks * (ranks + 1) / 2)
  call MPI_Iscan(own, all, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, code)
  call check(4, (rank + 1) * (rank + 2) / 2)
  call MPI_Iexscan(own, all, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, code)
  call check(merge(4, 0, rank > 0), rank * (rank + 1) / 2)
#ifdef INIT
  call INIT(own, all, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, code)
  call MPI_Start(request, code)
  call check(4, ranks * (ranks + 1) / 2)
  call MPI_Request_free(request, code)
#endif
  call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0,a)', 'right: ', all_wrong, ' wrong elements'
  call MPI_Finalize(code)

contains

  subroutine check(length, expected)
    integer, intent(in) :: length, expected
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    wrong = wrong + count(all(1:length) /= expected)
    all = -1
  end subroutine check

end program reductions
