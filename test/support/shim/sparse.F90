! Runs all-to-alls from Fortran whose counts are mostly zero, and compares each element. Compiled with WITH_F08 it uses the module
! mpi_f08, with WITH_MPIF mpif.h, else the module mpi.
program sparse
#if defined(WITH_F08)
  use mpi_f08
#elif !defined(WITH_MPIF)
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: calls = 12, room = 64
  integer :: rank, ranks, code, call_number, wrong, all_wrong, to, source
  integer :: from(room), into(room), sent(room), received(room), places(room), bytes(room)
#ifdef WITH_F08
  type(MPI_Datatype) :: types(room)
  type(MPI_Request) :: request
#else
  integer :: types(room), request
#endif

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  wrong = 0
  types = MPI_INTEGER
  places = [(2 * call_number, call_number = 0, room - 1)]
  bytes = 4 * places
  do call_number = 1, calls
    to = mod(rank + call_number, ranks)
    source = modulo(rank - call_number, ranks)
    from = 0
    from(2 * to + 1:2 * to + 2) = [rank, call_number]
    sent = 0
    sent(to + 1) = 2
    received = 0
    received(source + 1) = 2
    into = -1
    call MPI_Alltoallv(from, sent, places, MPI_INTEGER, into, received, places, MPI_INTEGER, MPI_COMM_WORLD, code)
    call check()
    call MPI_Alltoallw(from, sent, bytes, types, into, received, bytes, types, MPI_COMM_WORLD, code)
    call check()
    call MPI_Ialltoallv(from, sent, places, MPI_INTEGER, into, received, places, MPI_INTEGER, MPI_COMM_WORLD, request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call check()
    ! In place a rank gets as much as it sends: pairs exchange what both have.
    if (mod(ranks, 2) == 0) then
      to = rank + 1 - 2 * mod(rank, 2)
      received = 0
      received(to + 1) = 1
      into(2 * to + 1) = rank
      call MPI_Alltoallv(MPI_IN_PLACE, sent, places, MPI_INTEGER, into, received, places, MPI_INTEGER, MPI_COMM_WORLD, code)
      if (into(2 * to + 1) /= to) wrong = wrong + 1
    end if
  end do
  call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0,a)', 'right: ', all_wrong, ' wrong elements'
  call MPI_Finalize(code)

contains

  subroutine check()
    wrong = wrong + count(into(2 * source + 1:2 * source + 2) /= [source, call_number]) + count(into /= -1) - 2
    into = -1
  end subroutine check
end program sparse
