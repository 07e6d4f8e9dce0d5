! Messages from rank 1 to rank 0 of two processes, in an order that barriers fix, completed in every way.
program matching
#ifdef WITH_F08
  use mpi_f08
#elif defined WITH_MODULE
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: messages = 8
  integer :: code, rank, i, done, value, values(messages), indices(messages), place
  logical :: flag
#ifdef WITH_F08
  type(MPI_Comm) :: twin
  type(MPI_Request) :: requests(messages), pair(2)
  type(MPI_Status) :: status
#else
  integer :: twin, requests(messages), pair(2), status(MPI_STATUS_SIZE)
#endif
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin, code)
  if (rank == 0) then
    do i = 1, messages
      call MPI_Irecv(values(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, requests(i), code)
    end do
  end if
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (rank == 1) then
    do i = 1, messages
      call MPI_Send(i, 1, MPI_INTEGER, 0, i, twin, code)
    end do
    call MPI_Isend(i, 1, MPI_INTEGER, 0, 50, MPI_COMM_WORLD, requests(1), code)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code)
  else
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(2), flag, status, code)
    end do
    call MPI_Waitany(messages, requests, place, status, code)
    call MPI_Waitsome(messages, requests, done, indices, MPI_STATUSES_IGNORE, code)
    call MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE, code)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (rank == 0) then
    call MPI_Iprobe(1, 50, MPI_COMM_WORLD, flag, status, code)
    call MPI_Recv(value, 1, MPI_INTEGER, 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Irecv(value, 1, MPI_INTEGER, 1, 51, MPI_COMM_WORLD, requests(1), code)
    call MPI_Cancel(requests(1), code)
    call MPI_Wait(requests(1), status, code)
  end if
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 60, value, 1, MPI_INTEGER, rank, 60, twin, MPI_STATUS_IGNORE, code)
  call MPI_Recv_init(value, 1, MPI_INTEGER, rank, 61, twin, pair(1), code)
  call MPI_Send_init(rank, 1, MPI_INTEGER, rank, 61, twin, pair(2), code)
  do i = 1, 2
    call MPI_Startall(2, pair, code)
    call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, code)
  end do
  if (rank == 0) print '(a)', 'done'
  call MPI_Finalize(code)
end program
