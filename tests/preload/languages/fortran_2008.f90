! Collectives by the module mpi_f08.
program fortran_2008
  use mpi_f08
  implicit none
  integer :: rank, processes, round, provided, own
  real(8) :: one(5), sum(5), other(5)
  integer(8) :: number, number_out
  type(MPI_Request) :: requests(3)
  type(MPI_Status) :: status
  integer, allocatable :: order(:), ranks(:)
  logical :: is_over

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  order = [(round, round = 0, processes - 1)]
  do round = 1, 20
    one = rank + round
    sum = -1
    call MPI_Allreduce(one, sum, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call require(all(sum == processes * (processes - 1) / 2 + processes * round))
    number = rank
    call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD)
    call require(number == processes - 1)
    call MPI_Reduce(one, sum, 5, MPI_DOUBLE_PRECISION, MPI_MIN, 0, MPI_COMM_WORLD)
    call require(rank /= 0 .or. all(sum == round))
    call MPI_Iallreduce(one, sum, 5, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, requests(1))
    number = rank + 1
    call MPI_Ireduce(number, number_out, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, requests(2))
    other = merge(round, -1, rank == 0)
    call MPI_Bcast(other, 5, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    call require(all(other == round))
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(3))
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call require(all(sum == processes - 1 + round))
    call require(rank /= 0 .or. number_out == processes * (processes + 1) / 2)
    one = merge(round, -1, rank == processes - 1)
    call MPI_Ibcast(one, 5, MPI_DOUBLE_PRECISION, processes - 1, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call require(all(one == round))
    ranks = 0 * order
    call MPI_Allgather(rank + round, 1, MPI_INTEGER, ranks, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call require(all(ranks - round == order))
    ranks = -1
    ranks(rank + 1) = rank
    call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call require(all(ranks == order))
    ranks = 0 * order
    call MPI_Gather(rank + round, 1, MPI_INTEGER, ranks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call require(all(ranks - round == order))
    call MPI_Scatter(ranks, 1, MPI_INTEGER, own, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call require(own == rank + round)
    call MPI_Igather(rank, 1, MPI_INTEGER, ranks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    if (rank == 0) call require(all(ranks == order))
    call MPI_Iscatter(ranks, 1, MPI_INTEGER, own, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call require(own == rank)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(1))
    is_over = .false.
    do while (.not. is_over)
      ! Not MPI_STATUS_IGNORE: Open MPI 4.1 then always says that the request is not over.
      call MPI_Request_get_status(requests(1), is_over, status)
    end do
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
  if (rank == 0) print *, 'fortran_2008: ok'

contains

  subroutine require(is_right)
    logical, intent(in) :: is_right
    if (is_right) return
    print *, 'wrong on rank', rank, 'in round', round
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
