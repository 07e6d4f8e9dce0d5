! Makes topologies with reorder = .true. and compares the neighbors and weights of each rank with what it gave for the vertex of
! that number. Prints how many processes have another rank, of each topology. Compiled with WITH_F08 it uses the module mpi_f08, with
! WITH_MPIF mpif.h, else the module mpi. 6 ranks; rank r sends to r + 3.
program reorder
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
  type(MPI_Comm) :: graphs(4), grid
#else
  integer :: graphs(4), grid
#endif
  integer :: rank, ranks, code, i, wrong, all_wrong, moved(5)
  integer :: sources(1), destinations(1), degrees(1), in_weights(1), out_weights(1), extents(2), before, after
  logical :: periods(2)

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  sources(1) = modulo(rank - 3, ranks)
  destinations(1) = modulo(rank + 3, ranks)
  degrees(1) = 1
  in_weights(1) = sources(1) * 10
  out_weights(1) = rank * 10
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .true., graphs(1), code)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, in_weights, 1, destinations, out_weights, &
                                      MPI_INFO_NULL, .true., graphs(2), code)
  ! Each process gives the edge of the next vertex.
  sources(1) = modulo(rank + 1, ranks)
  destinations(1) = modulo(rank + 4, ranks)
  out_weights(1) = sources(1) * 10
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, .true., &
                             graphs(3), code)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, destinations, out_weights, MPI_INFO_NULL, .true., &
                             graphs(4), code)
  ! Columns of the grid are on two nodes each.
  extents = (/ 2, 3 /)
  periods = (/ .true., .false. /)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, .true., grid, code)

  wrong = 0
  do i = 1, 4
    call check_graph(i)
  end do
  call MPI_Comm_rank(grid, i, code)
  moved(5) = merge(1, 0, i /= rank)
  call MPI_Cart_shift(grid, 0, 1, before, after, code)
  call expect(before, modulo(i + 3, 6))
  call expect(after, modulo(i + 3, 6))
  call MPI_Cart_shift(grid, 1, 1, before, after, code)
  call expect(before, merge(MPI_PROC_NULL, i - 1, modulo(i, 3) == 0))
  call expect(after, merge(MPI_PROC_NULL, i + 1, modulo(i, 3) == 2))

  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Allreduce(MPI_IN_PLACE, moved, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0, a, 5(1x, i0))', all_wrong, ' wrong, moved', moved
  call MPI_Finalize(code)
contains
  subroutine check_graph(number)
    integer, intent(in) :: number
    integer :: own, from(1), to(1), from_weights(1), to_weights(1), in, out
    logical :: weighted
    call MPI_Comm_rank(graphs(number), own, code)
    moved(number) = merge(1, 0, own /= rank)
    call MPI_Dist_graph_neighbors_count(graphs(number), in, out, weighted, code)
    call expect(in, 1)
    call expect(out, 1)
    call expect(merge(1, 0, weighted), modulo(number + 1, 2))
    if (weighted) then
      call MPI_Dist_graph_neighbors(graphs(number), 1, from, from_weights, 1, to, to_weights, code)
      call expect(from_weights(1), from(1) * 10)
      call expect(to_weights(1), own * 10)
    else
      call MPI_Dist_graph_neighbors(graphs(number), 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, code)
    end if
    call expect(from(1), modulo(own - 3, ranks))
    call expect(to(1), modulo(own + 3, ranks))
  end subroutine

  subroutine expect(got, wanted)
    integer, intent(in) :: got, wanted
    if (got /= wanted) wrong = wrong + 1
  end subroutine
end program
