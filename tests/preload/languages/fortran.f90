! The collectives by the module mpi, whose interfaces are those of mpif.h.
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
    call gather()
    call rooted()
    call unequal()
    call nonblocking()
    sum = merge(round, -1, rank == 0)
    call MPI_Bcast(sum, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call require(all(sum == round))
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

  subroutine gather()
    integer :: all_ranks(2, 0:processes - 1), request, i
    all_ranks = -1
    call MPI_Allgather(one, 2, MPI_INTEGER, all_ranks, 1, MPI_2INTEGER, MPI_COMM_WORLD, error)
    call require(all(all_ranks(1, :) == [(i + round, i = 0, processes - 1)]) .and. error == MPI_SUCCESS)
    all_ranks = -1
    all_ranks(:, rank) = [rank, round]
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
    call require(all(all_ranks(1, :) == [(i, i = 0, processes - 1)]) .and. all(all_ranks(2, :) == round))
    all_ranks = -1
    call MPI_Iallgather(one, 2, MPI_INTEGER, all_ranks, 2, MPI_INTEGER, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call require(all(all_ranks(2, :) == [(i + round, i = 0, processes - 1)]))
  end subroutine

  subroutine rooted()
    integer :: all_ranks(2, 0:processes - 1), back(2), request, i
    all_ranks = -1
    call MPI_Gather(one, 2, MPI_INTEGER, all_ranks, 1, MPI_2INTEGER, 0, MPI_COMM_WORLD, error)
    call require(error == MPI_SUCCESS)
    if (rank == 0) call require(all(all_ranks(1, :) == [(i + round, i = 0, processes - 1)]))
    back = -1
    call MPI_Scatter(all_ranks, 2, MPI_INTEGER, back, 1, MPI_2INTEGER, 0, MPI_COMM_WORLD, error)
    call require(all(back == one(1:2)) .and. error == MPI_SUCCESS)
    call MPI_Igather(one, 2, MPI_INTEGER, all_ranks, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    back = -1
    if (rank == 0) then
      call MPI_Iscatter(all_ranks, 2, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, request, error)
      back = all_ranks(:, 0)
    else
      call MPI_Iscatter(all_ranks, 2, MPI_INTEGER, back, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request, error)
    end if
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call require(all(back == one(1:2)))
    if (rank == 0) then
      all_ranks(:, 0) = [0, round]
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
      call require(all(all_ranks(1, :) == [(i, i = 0, processes - 1)]) .and. all(all_ranks(2, :) == round))
    else
      call MPI_Gather([rank, round], 2, MPI_INTEGER, all_ranks, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    end if
  end subroutine

  ! Blocks of different lengths: process p has p + 1 integers for everybody.
  subroutine unequal()
    integer :: lengths(0:processes - 1), places(0:processes - 1), sent(0:processes - 1), sent_places(0:processes - 1)
    integer :: bytes(0:processes - 1), sent_bytes(0:processes - 1), types(0:processes - 1)
    integer :: own(rank + 1), all_ranks(processes * (processes + 1) / 2), expected(processes * (processes + 1) / 2)
    integer :: request, i, j
    lengths = [(i + 1, i = 0, processes - 1)]
    places = [(i * (i + 1) / 2, i = 0, processes - 1)]
    expected = [((i + round, j = 0, i), i = 0, processes - 1)]
    own = rank + round
    all_ranks = -1
    call MPI_Allgatherv(own, rank + 1, MPI_INTEGER, all_ranks, lengths, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    call require(all(all_ranks == expected) .and. error == MPI_SUCCESS)
    all_ranks = -1
    call MPI_Gatherv(own, rank + 1, MPI_INTEGER, all_ranks, lengths, places, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call require(rank /= 0 .or. all(all_ranks == expected))
    own = -1
    call MPI_Scatterv(all_ranks, lengths, places, MPI_INTEGER, own, rank + 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call require(all(own == rank + round))
    all_ranks = -1
    call MPI_Igatherv(own, rank + 1, MPI_INTEGER, all_ranks, lengths, places, MPI_INTEGER, 0, MPI_COMM_WORLD, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call require(rank /= 0 .or. all(all_ranks == expected))
    ! Everybody sends the same integers to all.
    sent = rank + 1
    sent_places = 0
    all_ranks = -1
    call MPI_Alltoallv(own, sent, sent_places, MPI_INTEGER, all_ranks, lengths, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    call require(all(all_ranks == expected) .and. error == MPI_SUCCESS)
    all_ranks = -1
    call MPI_Ialltoallv(own, sent, sent_places, MPI_INTEGER, all_ranks, lengths, places, MPI_INTEGER, MPI_COMM_WORLD, &
      request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call require(all(all_ranks == expected))
    types = MPI_INTEGER
    bytes = 4 * places
    sent_bytes = 0
    all_ranks = -1
    call MPI_Alltoallw(own, sent, sent_bytes, types, all_ranks, lengths, bytes, types, MPI_COMM_WORLD, error)
    call require(all(all_ranks == expected) .and. error == MPI_SUCCESS)
  end subroutine

  subroutine nonblocking()
    integer :: requests(5), sums(3, 3), blocks(2), i
    integer, allocatable :: input(:)
    logical :: is_over
    sums = -1
    call MPI_Iallreduce(one, sums(:, 1), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), error)
    call require(error == MPI_SUCCESS)
    call MPI_Ireduce(one, sums(:, 2), 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, requests(2), error)
    call MPI_Iscan(one, sums(:, 3), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3), error)
    in_place = merge(round + 7, -1, rank == processes - 1)
    call MPI_Ibcast(in_place, 3, MPI_INTEGER, processes - 1, MPI_COMM_WORLD, requests(5), error)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(4), error)
    call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE, error)
    call require(all(sums(:, 1) == total) .and. all(requests == MPI_REQUEST_NULL))
    call require(rank /= 0 .or. all(sums(:, 2) == processes - 1 + round))
    call require(all(in_place == round + 7))
    call require(all(sums(:, 3) == rank * (rank + 1) / 2 + (rank + 1) * round))

    in_place = one
    call MPI_Iallreduce(MPI_IN_PLACE, in_place, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), error)
    sum = 0
    call MPI_Iexscan(one, sum, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2), error)
    input = [(rank + round + i, i = 1, 2 * processes)]
    counts = 2
    call MPI_Ireduce_scatter(input, blocks, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3), error)
    call MPI_Wait(requests(3), MPI_STATUS_IGNORE, error)
    call require(all(blocks == [(total + processes * (2 * rank + i), i = 1, 2)]))
    blocks = -1
    call MPI_Ireduce_scatter_block(input, blocks, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3), error)
    is_over = .false.
    do while (.not. is_over)
      call MPI_Testall(3, requests, is_over, MPI_STATUSES_IGNORE, error)
    end do
    call require(all(blocks == [(total + processes * (2 * rank + i), i = 1, 2)]))
    call require(all(in_place == total))
    call require(rank == 0 .or. all(sum == rank * (rank - 1) / 2 + rank * round))
  end subroutine

  subroutine require(is_right)
    logical, intent(in) :: is_right
    if (is_right) return
    print *, 'wrong on rank', rank, 'in round', round
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end program
