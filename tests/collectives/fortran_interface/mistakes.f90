!> What is refused: arrays, arguments and handles. Nothing of it reaches another process.
module test_mistakes
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64, real128
  use mpi_f08
  use hycoll
  use checks
  implicit none
  private
  public :: check_mistakes, check_ended, make_handles_to_end
  type(hycoll_member) :: left
  type :: pair
    real(real64) :: value
    integer :: index
  end type

contains

  subroutine refused(code, class, said)
    integer, intent(in) :: code, class
    character(*), intent(in) :: said
    call check_refused(code, class, hycoll_error_string(), said)
  end subroutine

  subroutine check_mistakes()
    type(hycoll_member) :: world
    integer :: sum, code, members
    call world%create(MPI_COMM_WORLD)
    call refuse_arrays(world)
    call refuse_arguments(world)
    call refuse_requests(world)
    ! Everybody is where all the others are: nothing has been half made.
    members = world%size()
    call world%allreduce(1, sum, MPI_SUM, code)
    call check(code == MPI_SUCCESS .and. sum == members, 'a call after those that were refused')
    call world%free()
    call refuse_handles()
    call refuse_set_up()
  end subroutine

  subroutine refuse_arrays(world)
    type(hycoll_member), intent(in) :: world
    real(real64) :: matrix(4, 4), row(4)
    real(real32) :: short(4)
    real(real128) :: long(4)
    type(pair) :: pairs(2)
    type(hycoll_request) :: request
    integer :: code
    matrix = 1
    row = 1
    call world%allreduce(matrix(1, :), row, MPI_SUM, code)
    call refused(code, MPI_ERR_BUFFER, 'hycoll_allreduce: sendbuf is an array that is not contiguous')
    call world%iallreduce(row, matrix(1, :), MPI_SUM, request, code)
    call refused(code, MPI_ERR_BUFFER, 'hycoll_iallreduce: recvbuf is an array that is not contiguous')
    call world%bcast(matrix(::2, :), 0, code)
    call refused(code, MPI_ERR_BUFFER, 'buffer is an array that is not contiguous')
    call hycoll_bcast(matrix(2:3, :), 8, MPI_DOUBLE_PRECISION, 0, world, code)
    call refused(code, MPI_ERR_BUFFER, 'not contiguous')
    call world%allreduce(long, long, MPI_SUM, code)
    call refused(code, MPI_ERR_TYPE, 'sendbuf has elements of 16 bytes of a type or kind that MPI has no datatype for')
    call world%bcast(pairs, 0, code)
    call refused(code, MPI_ERR_TYPE, 'call hycoll_bcast with one')
    call world%allreduce(short, row, MPI_SUM, code)
    call refused(code, MPI_ERR_TYPE, 'sendbuf and recvbuf are of different types or kinds')
    call world%allreduce(row, matrix(:3, 1), MPI_SUM, code)
    call refused(code, MPI_ERR_COUNT, 'recvbuf has 3 elements; expected 4')
    call world%allgather(row, matrix(:3, 1), code)
    call refused(code, MPI_ERR_COUNT, 'recvbuf has 3 elements; expected')
    if (world%size() == 3) then
      call world%alltoall(row, matrix(:3, 1), code)
      call refused(code, MPI_ERR_COUNT, 'sendbuf has 4 elements; expected a multiple of the 3 members')
    end if
  end subroutine

  subroutine refuse_arguments(world)
    type(hycoll_member), intent(in) :: world
    integer :: own, sum, code, none(0)
    integer, allocatable :: counts(:)
    type(MPI_Datatype) :: uncommitted
    own = 1
    allocate (counts(world%size()), source=1)
    call hycoll_allreduce(own, sum, -1, MPI_INTEGER, MPI_SUM, world, code)
    call refused(code, MPI_ERR_COUNT, 'hycoll_allreduce: count=-1')
    call hycoll_allreduce(own, sum, 1, MPI_DATATYPE_NULL, MPI_SUM, world, code)
    call refused(code, MPI_ERR_TYPE, 'MPI_DATATYPE_NULL')
    call hycoll_allreduce(own, sum, 1, MPI_INTEGER, MPI_OP_NULL, world, code)
    call refused(code, MPI_ERR_OP, 'MPI_OP_NULL')
    call world%allreduce(own, MPI_IN_PLACE, MPI_SUM, code)
    call refused(code, MPI_ERR_BUFFER, 'recvbuf is MPI_IN_PLACE')
    call world%allgather(own, MPI_IN_PLACE, code)
    call refused(code, MPI_ERR_BUFFER, 'recvbuf is MPI_IN_PLACE')
    call world%bcast(own, world%size(), code)
    call refused(code, MPI_ERR_ROOT, 'root')
    call world%allgatherv(own, counts, none, ierror=code)
    call refused(code, MPI_ERR_ARG, 'recvcounts has 0 elements; expected')
    counts(1) = -1
    call world%allgatherv(own, counts, counts, ierror=code)
    call refused(code, MPI_ERR_COUNT, 'recvcounts[0]=-1')
    call MPI_Type_contiguous(2, MPI_INTEGER, uncommitted)
    call hycoll_bcast(own, 0, uncommitted, 0, world, code)
    call refused(code, MPI_ERR_TYPE, 'committed')
    call MPI_Type_free(uncommitted)
  end subroutine

  subroutine refuse_requests(world)
    type(hycoll_member), intent(in) :: world
    type(hycoll_member) :: again
    type(hycoll_request) :: request, copy
    integer, asynchronous :: own, sum
    integer :: code
    own = 1
    call world%allreduce_init(own, sum, MPI_SUM, request)
    call request%start()
    call request%start(code)
    call refused(code, MPI_ERR_REQUEST, 'has not been waited for')
    call request%free(code)
    call refused(code, MPI_ERR_REQUEST, 'wait for it')
    call request%wait()
    again = world
    call again%free(code)
    call refused(code, MPI_ERR_REQUEST, '1 requests')
    copy = request
    call request%free()
    call copy%start(code)
    call refused(code, MPI_ERR_REQUEST, 'has been freed')
    call copy%wait(code)
    call refused(code, MPI_ERR_REQUEST, 'has been freed')
  end subroutine

  subroutine refuse_handles()
    type(hycoll_member) :: none, freed, copy, next
    type(hycoll_team) :: no_team, team
    integer :: code, found
    call none%barrier(code)
    call refused(code, MPI_ERR_COMM, 'member: the handle is null')
    call none%free(code)
    call refused(code, MPI_ERR_COMM, 'null')
    found = none%size(code)
    call refused(code, MPI_ERR_COMM, 'null')
    call no_team%join(0, none, code)
    call refused(code, MPI_ERR_COMM, 'null')
    call freed%create(MPI_COMM_SELF)
    copy = freed
    call freed%free()
    call freed%free(code)
    call refused(code, MPI_ERR_COMM, 'null')
    call copy%free(code)
    call refused(code, MPI_ERR_COMM, 'has been freed')
    call next%create(MPI_COMM_SELF)
    call copy%barrier(code)
    call refused(code, MPI_ERR_COMM, 'has been freed')
    call next%free()
    call team%create(MPI_COMM_WORLD, 1)
    call team%join(1, next, code)
    call refused(code, MPI_ERR_ARG, '1')
    call team%join(-1, next, code)
    call refused(code, MPI_ERR_ARG, '-1')
    call team%join(0, next)
    copy = next
    call copy%free(code)
    call refused(code, MPI_ERR_COMM, 'hycoll_team_free')
    call team%free()
    call next%barrier(code)
    call refused(code, MPI_ERR_COMM, 'has been freed')
  end subroutine

  subroutine refuse_set_up()
    type(hycoll_member) :: member
    type(hycoll_team) :: team
    type(hycoll_options) :: options
    integer :: code
    call member%create(MPI_COMM_NULL, ierror=code)
    call refused(code, MPI_ERR_COMM, 'parent')
    call team%create(MPI_COMM_WORLD, 0, ierror=code)
    call refused(code, MPI_ERR_ARG, '0')
    options%layout = 'nodes'
    call member%create(MPI_COMM_WORLD, options, code)
    call refused(code, MPI_ERR_ARG, "options.layout='nodes': expected per_node or processes")
    deallocate (options%layout)
    options%workers = -2
    call member%create(MPI_COMM_WORLD, options, code)
    call refused(code, MPI_ERR_ARG, "options.workers='-2'")
  end subroutine

  subroutine make_handles_to_end()
    call left%create(MPI_COMM_SELF)
  end subroutine

  !> After MPI_Finalize.
  subroutine check_ended()
    type(hycoll_member) :: member
    integer :: code, value
    value = 1
    call left%barrier(code)
    call refused(code, MPI_ERR_COMM, 'before MPI_Finalize')
    call left%allreduce(MPI_IN_PLACE, value, MPI_SUM, code)
    call refused(code, MPI_ERR_COMM, 'before MPI_Finalize')
    call left%bcast(value, 0, code)
    call refused(code, MPI_ERR_COMM, 'before MPI_Finalize')
    call left%alltoall(MPI_IN_PLACE, value, code)
    call refused(code, MPI_ERR_COMM, 'before MPI_Finalize')
    call left%free(code)
    call refused(code, MPI_ERR_COMM, 'before MPI_Finalize')
    call member%create(MPI_COMM_WORLD, ierror=code)
    call refused(code, MPI_ERR_OTHER, 'MPI_Finalize has been called')
  end subroutine
end module
