! The reductions by the module mpi, whose interfaces are those of mpif.h.
program fortran
  use mpi
  implicit none
  integer :: error, rank, processes, round, total
  integer :: counts(64)
  integer :: one(3), sum(3), in_place(3)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, error)
  do round = 1, 20
    total = processes * (processes - 1) / 2 + processes * round
    one = rank + round
    sum = -1
    call MPI_Allreduce(one, sum, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call require(all(sum == total) .and. error == MPI_SUCCESS)
    in_place = one
    call MPI_Allreduce(MPI_IN_PLACE, in_place, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call require(all(in_place == total))

    sum = -1
    call MPI_Reduce(one, sum, 3, MPI_INTEGER, MPI_MAX, processes - 1, MPI_COMM_WORLD, error)
    call require(rank /= processes - 1 .or. all(sum == processes - 1 + round))

    call MPI_Scan(one, sum, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call require(all(sum == rank * (rank + 1) / 2 + (rank + 1) * round))
    call MPI_Exscan(one, sum, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call require(rank == 0 .or. all(sum == rank * (rank - 1) / 2 + rank * round))
    call scatter()
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
  if (rank == 0) print *, 'fortran: ok'

contains

  subroutine scatter()
    integer, allocatable :: input(:)
    integer :: output(2), i
    input = [(rank + round + i, i = 1, 2 * processes)]
    output = -1
    call MPI_Reduce_scatter_block(input, output, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call require(all(output == [(total + processes * (2 * rank + i), i = 1, 2)]))
    counts = 2
    output = -1
    call MPI_Reduce_scatter(input, output, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call require(all(output == [(total + processes * (2 * rank + i), i = 1, 2)]))
  end subroutine

  subroutine require(is_right)
    logical, intent(in) :: is_right
    if (is_right) return
    print *, 'wrong on rank', rank, 'in round', round
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end program
