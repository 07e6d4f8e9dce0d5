! Runs neighborhood collectives from Fortran and compares each element with what MPI demands. Compiled with WITH_F08 it uses the module
! mpi_f08, with WITH_MPIF mpif.h, else the module mpi. At least 4 ranks; rank r sends to r + 1, r + 2 and r + 3.
program neighbors
#if defined(WITH_F08)
  use mpi_f08
#elif !defined(WITH_MPIF)
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
#ifdef WITH_F08
  type(MPI_Comm) :: graph, grid
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status
#else
  integer :: graph, grid, requests(4), status(MPI_STATUS_SIZE)
#endif
  integer, parameter :: degree = 3, room = 8
  integer :: rank, ranks, code, round, i, wrong, all_wrong
  integer :: sources(degree), destinations(degree), counts(degree), places(degree)
  integer, asynchronous :: own(degree * room), theirs(degree * room), started(degree * room, 4), sent(degree * room)
  integer :: extents(1)
  logical :: periods(1), flag

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  do i = 1, degree
    sources(i) = modulo(rank - i, ranks)
    destinations(i) = modulo(rank + i, ranks)
  end do
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, sources, MPI_UNWEIGHTED, degree, destinations, MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., graph, code)
  extents(1) = ranks
  periods(1) = .false.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, extents, periods, .false., grid, code)

  wrong = 0
  do round = 1, 3
    own(1:2) = (/ block(rank, 0), block(rank, 1) /)
    theirs = -1
    call MPI_Neighbor_allgather(own, 2, MPI_INTEGER, theirs, 2, MPI_INTEGER, graph, code)
    do i = 1, degree
      call expect(theirs(2 * i - 1), block(sources(i), 0))
      call expect(theirs(2 * i), block(sources(i), 1))
    end do

    counts = 1
    do i = 1, degree
      places(i) = (i - 1) * room
    end do
    theirs = -1
    call MPI_Neighbor_allgatherv(own, 1, MPI_INTEGER, theirs, counts, places, MPI_INTEGER, graph, code)
    do i = 1, degree
      call expect(theirs(places(i) + 1), block(sources(i), 0))
      call expect(theirs(places(i) + 2), -1)
    end do

    do i = 1, degree
      own(i) = block(rank, i)
    end do
    theirs = -1
    call MPI_Neighbor_alltoall(own, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, graph, code)
    do i = 1, degree
      call expect(theirs(i), block(sources(i), i))
    end do

    do i = 1, degree
      own(places(i) + 1) = block(rank, i)
    end do
    theirs = -1
    call MPI_Neighbor_alltoallv(own, counts, places, MPI_INTEGER, theirs, counts, places, MPI_INTEGER, graph, code)
    do i = 1, degree
      call expect(theirs(places(i) + 1), block(sources(i), i))
    end do

    own(1) = block(rank, 0)
    theirs = -1
    call MPI_Neighbor_allgather(own, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, grid, code)
    call expect(theirs(1), merge(block(rank - 1, 0), -1, rank > 0))
    call expect(theirs(2), merge(block(rank + 1, 0), -1, rank < ranks - 1))

    ! All non-blocking forms in flight, each completed by another call. Open MPI's get_status ignores a flag
    ! with MPI_STATUS_IGNORE.
    do i = 1, degree
      own(i) = block(rank, i)
      sent(places(i) + 1) = block(rank, i)
    end do
    started = -1
    call MPI_Ineighbor_allgather(own, 1, MPI_INTEGER, started(:, 1), 1, MPI_INTEGER, graph, requests(1), code)
    call MPI_Ineighbor_allgatherv(own, 1, MPI_INTEGER, started(:, 2), counts, places, MPI_INTEGER, graph, requests(2), code)
    call MPI_Ineighbor_alltoall(own, 1, MPI_INTEGER, started(:, 3), 1, MPI_INTEGER, graph, requests(3), code)
    call MPI_Ineighbor_alltoallv(sent, counts, places, MPI_INTEGER, started(:, 4), counts, places, MPI_INTEGER, graph, &
                                 requests(4), code)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(requests(4), flag, status, code)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(2), flag, MPI_STATUS_IGNORE, code)
    end do
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, code)
    do i = 1, degree
      call expect(started(i, 1), block(sources(i), 1))
      call expect(started(places(i) + 1, 2), block(sources(i), 1))
      call expect(started(i, 3), block(sources(i), i))
      call expect(started(places(i) + 1, 4), block(sources(i), i))
    end do
  end do

  call MPI_Comm_free(graph, code)
  call MPI_Comm_free(grid, code)
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a, i0, a)', merge('right: ', 'wrong: ', all_wrong == 0), all_wrong, ' wrong elements'
  call MPI_Finalize(code)

contains

  integer function block(source, number)
    integer, intent(in) :: source, number
    block = (source * 31 + number) * 131 + round
  end function block

  subroutine expect(got, wanted)
    integer, intent(in) :: got, wanted
    if (got /= wanted) wrong = wrong + 1
  end subroutine expect

end program neighbors
