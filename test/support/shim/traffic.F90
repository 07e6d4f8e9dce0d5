! Messages and exchanges around a ring of processes, as many and as long as a test knows.
program traffic
#ifdef WITH_F08
  use mpi_f08
#elif defined WITH_MODULE
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: most = 16
  integer :: code, rank, ranks, next, before, i
  integer :: counts(most), from(most), places(most)
  logical :: flag
  double precision :: out(64), in(64)
#ifdef WITH_F08
  type(MPI_Request) :: pair(2)
#else
  integer :: pair(2)
#endif
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  out = 1
  ! Three messages of 8 bytes, five of 16, two of 24.
  do i = 1, 3
    call MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, pair(1), code)
    call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, code)
    call MPI_Wait(pair(1), MPI_STATUS_IGNORE, code)
  end do
  do i = 1, 5
    call MPI_Irecv(in, 2, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, pair(1), code)
    call MPI_Isend(out, 2, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, pair(2), code)
    call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, code)
  end do
  call MPI_Recv_init(in, 3, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, pair(1), code)
  call MPI_Send_init(out, 3, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, pair(2), code)
  do i = 1, 2
    call MPI_Startall(2, pair, code)
    call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, code)
  end do
  call MPI_Test(pair(1), flag, MPI_STATUS_IGNORE, code)
  call MPI_Sendrecv(out, 4, MPI_DOUBLE_PRECISION, next, 1, in, 4, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, code)
  counts = 0
  from = 0
  places = 0
  counts(next + 1) = 5
  from(before + 1) = 5
  call MPI_Alltoallv(out, counts, places, MPI_DOUBLE_PRECISION, in, from, places, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, code)
  in = 1
  counts = 0
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_DOUBLE_PRECISION, in, counts, places, MPI_DOUBLE_PRECISION, &
                     MPI_COMM_WORLD, code)
  do i = 1, 2
    call MPI_Allreduce(MPI_IN_PLACE, in, 6, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  end do
  call MPI_Bcast(in, 7, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
end program
