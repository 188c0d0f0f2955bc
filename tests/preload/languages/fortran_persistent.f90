! Persistent collectives that C has set up, by the module mpi_f08 and by mpif.h.
module sums
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: length = 5
  integer(c_int), target :: input(length, 2), output(length, 2)
  integer :: rank, processes
  interface
    integer(c_int) function set_up_sum(input, output, count) bind(C)
      import :: c_int
      integer(c_int) :: input(*), output(*)
      integer(c_int), value :: count
    end function
  end interface

contains

  subroutine fill(round)
    integer, intent(in) :: round
    input(:, 1) = rank + round
    input(:, 2) = 2 * rank - round
    output = -1
  end subroutine

  logical function is_right(which, round)
    integer, intent(in) :: which, round
    integer :: total
    total = processes * (processes - 1) / 2 + processes * round
    if (which == 2) total = processes * (processes - 1) - processes * round
    is_right = all(output(:, which) == total)
  end function
end module

subroutine by_mpi_f08
  use mpi_f08
  use sums
  implicit none
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status
  integer :: which, round, index, count, indices(4)
  integer, asynchronous :: incoming, outgoing
  logical :: is_over

  do which = 1, 2
    requests(which)%MPI_VAL = set_up_sum(input(:, which), output(:, which), length)
  end do
  call MPI_Send_init(outgoing, 1, MPI_INTEGER, mod(rank + 1, processes), 5, MPI_COMM_WORLD, requests(3))
  call MPI_Recv_init(incoming, 1, MPI_INTEGER, mod(rank + processes - 1, processes), 5, MPI_COMM_WORLD, requests(4))
  do round = 1, 30
    call fill(round)
    outgoing = round
    call MPI_Start(requests(1))
    select case (mod(round, 5))
    case (0)
      call MPI_Wait(requests(1), status)
    case (1)
      is_over = .false.
      do while (.not. is_over)
        call MPI_Test(requests(1), is_over, status)
      end do
    case (2)
      is_over = .false.
      do while (.not. is_over)
        call MPI_Request_get_status(requests(1), is_over, status)
      end do
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    case (3)
      ! MPICH 4.0.2 counts from 0 here, and in MPI_Waitsome.
      call MPI_Waitany(2, requests(1:2), index, status)
      call require(index == 0 .or. index == 1)
    case default
      call MPI_Waitsome(2, requests(1:2), count, indices, MPI_STATUSES_IGNORE)
      call require(count == 1 .and. (indices(1) == 0 .or. indices(1) == 1))
    end select
    call require(is_right(1, round))
    call fill(-round)
    call MPI_Startall(4, requests)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call require(is_right(1, -round) .and. is_right(2, -round) .and. incoming == round)
  end do
  do which = 1, 4
    call MPI_Request_free(requests(which))
    call require(requests(which) == MPI_REQUEST_NULL)
  end do
end subroutine

subroutine by_mpif
  use sums
  implicit none
  include 'mpif.h'
  integer :: requests(2), which, round, error

  do which = 1, 2
    requests(which) = set_up_sum(input(:, which), output(:, which), length)
  end do
  do round = 1, 30
    call fill(round)
    call MPI_Start(requests(1), error)
    call MPI_Start(requests(2), error)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call require(is_right(1, round) .and. is_right(2, round))
    call fill(-round)
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call require(is_right(1, -round) .and. is_right(2, -round))
  end do
  do which = 1, 2
    call MPI_Request_free(requests(which), error)
    call require(requests(which) == MPI_REQUEST_NULL)
  end do
end subroutine

subroutine require(holds)
  use mpi_f08
  logical, intent(in) :: holds
  if (holds) return
  print *, 'wrong'
  call MPI_Abort(MPI_COMM_WORLD, 1)
end subroutine

program fortran_persistent
  use mpi_f08
  use sums
  implicit none
  integer :: i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call by_mpi_f08
  call by_mpif
  call MPI_Finalize()
  if (rank == 0) print *, 'fortran_persistent: ok'
end program
