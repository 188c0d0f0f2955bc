!> hycoll's collectives for Fortran 2018. A member takes the place of MPI's communicator: each process
!> of a communicator is one member, and each thread of a team is.
!>
!> Example: a sum over all processes.
!>
!>     use mpi_f08
!>     use hycoll
!>     type(hycoll_member) :: world
!>     real(8) :: own(3), sum(3)
!>     call world%create(MPI_COMM_WORLD)
!>     call world%allreduce(own, sum, MPI_SUM)
!>     call world%free()
!>
!> A member's procedures take what arrays hold from the arrays: type, kind and number of elements. The
!> procedures hycoll_allreduce and so on have MPI's arguments, with the member in the place of the
!> communicator. Handles of datatypes, operators and communicators are those of mpi_f08, or the integers
!> of mpi. No array is copied: one that is not contiguous is refused.
!>
!> `ierror` is MPI_SUCCESS or a class of MPI's errors, such as MPI_ERR_ROOT, and hycoll_error_string() says
!> more. Without it an error ends the program.
module hycoll
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_LOGICAL, MPI_Op, bottom_f08 => MPI_BOTTOM, &
      in_place_f08 => MPI_IN_PLACE
  use mpi, only: bottom_mpi => MPI_BOTTOM, in_place_mpi => MPI_IN_PLACE
  implicit none
  private
  public :: hycoll_member, hycoll_options, hycoll_request, hycoll_team, hycoll_unset
  public :: hycoll_error_string, hycoll_testall, hycoll_testsome, hycoll_waitall, hycoll_waitany
  ! PUBLIC

  !> Of an option that is a number: not set.
  integer, parameter :: hycoll_unset = -1

  !> Choices for a communicator or team; all processes pass the same. What is not set is as the
  !> environment says (docs/settings.md), where each variable is explained.
  type :: hycoll_options
    ! OPTIONS
  end type

  !> A handle of <hycoll.h>.
  type, bind(C) :: c_handle
    integer(c_int64_t) :: handle = 0
  end type

  !> A nonblocking call under way, or a persistent call. A buffer of such a call is the call's until
  !> wait(), or free() of a persistent one; lists are not.
  type :: hycoll_request
    private
    type(c_handle) :: c
  contains
    !> Returns when the call has completed.
    procedure :: wait => request_wait
    !> Says whether it has, and then does what wait() does.
    procedure :: test => request_test
    !> Starts a persistent call, whose last start has been waited for.
    procedure :: start => request_start
    !> Frees a persistent call.
    procedure :: free => request_free
  end type

  !> One member: that of a process in a communicator, or of a thread in a team. Copies stand for the same.
  type :: hycoll_member
    private
    type(c_handle) :: c
  contains
    procedure, private :: member_create_f08
    procedure, private :: member_create_mpi
    !> Collective over the processes of `parent`, each of which becomes a member.
    generic :: create => member_create_f08, member_create_mpi
    !> Collective. Frees a communicator; members of a team end with it.
    procedure :: free => member_free
    !> From 0; -1 of a process that is an aggregator.
    procedure :: rank => member_rank
    !> The number of members.
    procedure :: size => member_size
    !> Of an aggregator (hycoll_options%aggregators): works for the members, until they have freed theirs.
    procedure :: serve => member_serve
    ! BINDINGS
  end type

  !> The threads of a process that are members.
  !>
  !> Example: every thread of a parallel region is a member.
  !>
  !>     call team%create(MPI_COMM_WORLD, omp_get_max_threads())
  !>     !$omp parallel private(member, own, sum)
  !>     call team%join(omp_get_thread_num(), member)
  !>     call member%allreduce(own, sum, MPI_SUM)
  !>     !$omp end parallel
  !>     call team%free()
  type :: hycoll_team
    private
    type(c_handle) :: c
  contains
    procedure, private :: team_create_f08
    procedure, private :: team_create_mpi
    !> Collective over the processes of `parent`, called by one thread of each. `thread_count` threads
    !> of this process become members.
    generic :: create => team_create_f08, team_create_mpi
    !> The member of a thread, by its index from 0 to thread_count - 1, such as omp_get_thread_num().
    procedure :: join => team_join
    !> Collective. No member may be inside a call.
    procedure :: free => team_free
    !> As that of a member.
    procedure :: serve => team_serve
  end type

  ! GENERICS

  !> hycoll_options of <hycoll.h>.
  type, bind(C) :: c_options
    ! C_OPTIONS
  end type

  !> A text as C has it.
  type :: c_text
    character(kind=c_char), allocatable :: bytes(:)
    type(c_text), pointer :: next => null()
  end type

  integer(c_int), parameter :: blocking = 0, nonblocking = 1, persistent = 2

  interface
    ! C_INTERFACES

    subroutine c_tell(in_place_f08, in_place_mpi, bottom_f08, bottom_mpi, logical_type, logical_bytes) &
        bind(C, name="hycoll_fortran_tell")
      import :: c_int, c_size_t
      type(*), intent(in) :: in_place_f08, in_place_mpi, bottom_f08, bottom_mpi
      integer(c_int), value :: logical_type
      integer(c_size_t), value :: logical_bytes
    end subroutine

    function c_error_length() result(length) bind(C, name="hycoll_fortran_error_length")
      import :: c_int
      integer(c_int) :: length
    end function

    subroutine c_error_text(text) bind(C, name="hycoll_fortran_error_text")
      import :: c_char
      character(kind=c_char), intent(out) :: text(*)
    end subroutine

    subroutine c_abort(code) bind(C, name="hycoll_fortran_abort")
      import :: c_int
      integer(c_int), value :: code
    end subroutine

    function c_communicator_create(parent, options, member) result(code) &
        bind(C, name="hycoll_fortran_communicator_create")
      import :: c_handle, c_int, c_options
      integer(c_int), value :: parent
      type(c_options), intent(in) :: options
      type(c_handle) :: member
      integer(c_int) :: code
    end function

    function c_communicator_free(member) result(code) bind(C, name="hycoll_fortran_communicator_free")
      import :: c_handle, c_int
      type(c_handle) :: member
      integer(c_int) :: code
    end function

    function c_communicator_serve(member) result(code) bind(C, name="hycoll_fortran_communicator_serve")
      import :: c_handle, c_int
      type(c_handle), value :: member
      integer(c_int) :: code
    end function

    function c_team_create(parent, thread_count, options, team) result(code) &
        bind(C, name="hycoll_fortran_team_create")
      import :: c_handle, c_int, c_options
      integer(c_int), value :: parent, thread_count
      type(c_options), intent(in) :: options
      type(c_handle) :: team
      integer(c_int) :: code
    end function

    function c_team_join(team, thread_index, member) result(code) bind(C, name="hycoll_fortran_team_join")
      import :: c_handle, c_int
      type(c_handle), value :: team
      integer(c_int), value :: thread_index
      type(c_handle) :: member
      integer(c_int) :: code
    end function

    function c_team_free(team) result(code) bind(C, name="hycoll_fortran_team_free")
      import :: c_handle, c_int
      type(c_handle) :: team
      integer(c_int) :: code
    end function

    function c_team_serve(team) result(code) bind(C, name="hycoll_fortran_team_serve")
      import :: c_handle, c_int
      type(c_handle), value :: team
      integer(c_int) :: code
    end function

    function c_rank(member, rank) result(code) bind(C, name="hycoll_fortran_rank")
      import :: c_handle, c_int
      type(c_handle), value :: member
      integer(c_int), intent(out) :: rank
      integer(c_int) :: code
    end function

    function c_size(member, size) result(code) bind(C, name="hycoll_fortran_size")
      import :: c_handle, c_int
      type(c_handle), value :: member
      integer(c_int), intent(out) :: size
      integer(c_int) :: code
    end function

    function c_wait(request) result(code) bind(C, name="hycoll_fortran_wait")
      import :: c_handle, c_int
      type(c_handle) :: request
      integer(c_int) :: code
    end function

    function c_test(request, flag) result(code) bind(C, name="hycoll_fortran_test")
      import :: c_handle, c_int
      type(c_handle) :: request
      integer(c_int), intent(out) :: flag
      integer(c_int) :: code
    end function

    function c_start(request) result(code) bind(C, name="hycoll_fortran_start")
      import :: c_handle, c_int
      type(c_handle) :: request
      integer(c_int) :: code
    end function

    function c_request_free(request) result(code) bind(C, name="hycoll_fortran_request_free")
      import :: c_handle, c_int
      type(c_handle) :: request
      integer(c_int) :: code
    end function

    function c_waitall(count, requests) result(code) bind(C, name="hycoll_fortran_waitall")
      import :: c_handle, c_int
      integer(c_int), value :: count
      type(c_handle) :: requests(*)
      integer(c_int) :: code
    end function

    function c_waitany(count, requests, place) result(code) bind(C, name="hycoll_fortran_waitany")
      import :: c_handle, c_int
      integer(c_int), value :: count
      type(c_handle) :: requests(*)
      integer(c_int), intent(out) :: place
      integer(c_int) :: code
    end function

    function c_testall(count, requests, flag) result(code) bind(C, name="hycoll_fortran_testall")
      import :: c_handle, c_int
      integer(c_int), value :: count
      type(c_handle) :: requests(*)
      integer(c_int), intent(out) :: flag
      integer(c_int) :: code
    end function

    function c_testsome(count, requests, outcount, places) result(code) &
        bind(C, name="hycoll_fortran_testsome")
      import :: c_handle, c_int
      integer(c_int), value :: count
      type(c_handle) :: requests(*)
      integer(c_int), intent(out) :: outcount
      integer(c_int) :: places(*)
      integer(c_int) :: code
    end function
  end interface

contains

  !> What went wrong in the last call of this thread that returned an error.
  function hycoll_error_string() result(text)
    character(:), allocatable :: text
    allocate (character(len=c_error_length()) :: text)
    call c_error_text(text)
  end function

  !> Passes a result on. Without `ierror` an error ends the program.
  subroutine finish(code, ierror)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierror
    if (present(ierror)) then
      ierror = code
    else if (code /= 0) then
      call c_abort(code)
    end if
  end subroutine

  !> The address of a text as C has it, which is put before those in `kept`.
  function address_of(text, kept) result(address)
    character(:), allocatable, intent(in) :: text
    type(c_text), pointer, intent(inout) :: kept
    type(c_ptr) :: address
    type(c_text), pointer :: made
    integer :: i
    address = c_null_ptr
    if (.not. allocated(text)) return
    allocate (made)
    allocate (made%bytes(len(text) + 1))
    do i = 1, len(text)
      made%bytes(i) = text(i:i)
    end do
    made%bytes(len(text) + 1) = c_null_char
    made%next => kept
    kept => made
    address = c_loc(made%bytes)
  end function

  subroutine free_texts(kept)
    type(c_text), pointer, intent(inout) :: kept
    type(c_text), pointer :: next
    do while (associated(kept))
      next => kept%next
      deallocate (kept)
      kept => next
    end do
  end subroutine

  !> Options as C has them; their texts are in `kept`. What every call needs to know is told first.
  function options_for_c(passed, kept) result(c)
    type(hycoll_options), intent(in), optional :: passed
    type(c_text), pointer, intent(inout) :: kept
    type(c_options) :: c
    type(hycoll_options) :: options
    call c_tell(in_place_f08, in_place_mpi, bottom_f08, bottom_mpi, MPI_LOGICAL%MPI_VAL, &
        storage_size(.true., c_size_t)/8)
    if (present(passed)) options = passed
    c%size = c_sizeof(c)
    ! COPIED_OPTIONS
  end function

  subroutine create_communicator(member, parent, options, ierror)
    class(hycoll_member), intent(out) :: member
    integer(c_int), intent(in) :: parent
    type(hycoll_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_text), pointer :: kept
    integer(c_int) :: code
    nullify (kept)
    code = c_communicator_create(parent, options_for_c(options, kept), member%c)
    call free_texts(kept)
    call finish(code, ierror)
  end subroutine

  subroutine member_create_f08(member, parent, options, ierror)
    class(hycoll_member), intent(out) :: member
    type(MPI_Comm), intent(in) :: parent
    type(hycoll_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    call create_communicator(member, parent%MPI_VAL, options, ierror)
  end subroutine

  subroutine member_create_mpi(member, parent, options, ierror)
    class(hycoll_member), intent(out) :: member
    integer(c_int), intent(in) :: parent
    type(hycoll_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    call create_communicator(member, parent, options, ierror)
  end subroutine

  subroutine member_free(member, ierror)
    class(hycoll_member), intent(inout) :: member
    integer, intent(out), optional :: ierror
    call finish(c_communicator_free(member%c), ierror)
  end subroutine

  subroutine member_serve(member, ierror)
    class(hycoll_member), intent(in) :: member
    integer, intent(out), optional :: ierror
    call finish(c_communicator_serve(member%c), ierror)
  end subroutine

  integer function member_rank(member, ierror) result(rank)
    class(hycoll_member), intent(in) :: member
    integer, intent(out), optional :: ierror
    integer(c_int) :: found
    found = -1
    call finish(c_rank(member%c, found), ierror)
    rank = found
  end function

  integer function member_size(member, ierror) result(size)
    class(hycoll_member), intent(in) :: member
    integer, intent(out), optional :: ierror
    integer(c_int) :: found
    found = 0
    call finish(c_size(member%c, found), ierror)
    size = found
  end function

  subroutine create_team(team, parent, thread_count, options, ierror)
    class(hycoll_team), intent(out) :: team
    integer(c_int), intent(in) :: parent
    integer, intent(in) :: thread_count
    type(hycoll_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    type(c_text), pointer :: kept
    integer(c_int) :: code
    nullify (kept)
    code = c_team_create(parent, int(thread_count, c_int), options_for_c(options, kept), team%c)
    call free_texts(kept)
    call finish(code, ierror)
  end subroutine

  subroutine team_create_f08(team, parent, thread_count, options, ierror)
    class(hycoll_team), intent(out) :: team
    type(MPI_Comm), intent(in) :: parent
    integer, intent(in) :: thread_count
    type(hycoll_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    call create_team(team, parent%MPI_VAL, thread_count, options, ierror)
  end subroutine

  subroutine team_create_mpi(team, parent, thread_count, options, ierror)
    class(hycoll_team), intent(out) :: team
    integer(c_int), intent(in) :: parent
    integer, intent(in) :: thread_count
    type(hycoll_options), intent(in), optional :: options
    integer, intent(out), optional :: ierror
    call create_team(team, parent, thread_count, options, ierror)
  end subroutine

  subroutine team_join(team, thread_index, member, ierror)
    class(hycoll_team), intent(in) :: team
    integer, intent(in) :: thread_index
    type(hycoll_member), intent(out) :: member
    integer, intent(out), optional :: ierror
    call finish(c_team_join(team%c, int(thread_index, c_int), member%c), ierror)
  end subroutine

  subroutine team_free(team, ierror)
    class(hycoll_team), intent(inout) :: team
    integer, intent(out), optional :: ierror
    call finish(c_team_free(team%c), ierror)
  end subroutine

  subroutine team_serve(team, ierror)
    class(hycoll_team), intent(in) :: team
    integer, intent(out), optional :: ierror
    call finish(c_team_serve(team%c), ierror)
  end subroutine

  subroutine request_wait(request, ierror)
    class(hycoll_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call finish(c_wait(request%c), ierror)
  end subroutine

  subroutine request_test(request, flag, ierror)
    class(hycoll_request), intent(inout) :: request
    logical, intent(out) :: flag
    integer, intent(out), optional :: ierror
    integer(c_int) :: found
    found = 0
    call finish(c_test(request%c, found), ierror)
    flag = found /= 0
  end subroutine

  subroutine request_start(request, ierror)
    class(hycoll_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call finish(c_start(request%c), ierror)
  end subroutine

  subroutine request_free(request, ierror)
    class(hycoll_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call finish(c_request_free(request%c), ierror)
  end subroutine

  !> Waits for all; returns the error of the first in this order that has met one.
  subroutine hycoll_waitall(requests, ierror)
    type(hycoll_request), intent(inout) :: requests(:)
    integer, intent(out), optional :: ierror
    call finish(c_waitall(int(size(requests), c_int), requests%c), ierror)
  end subroutine

  !> Waits for one that is under way, and says which, from 1; MPI_UNDEFINED if there is none.
  subroutine hycoll_waitany(requests, place, ierror)
    type(hycoll_request), intent(inout) :: requests(:)
    integer, intent(out) :: place
    integer, intent(out), optional :: ierror
    integer(c_int) :: found
    call finish(c_waitany(int(size(requests), c_int), requests%c, found), ierror)
    place = found
  end subroutine

  !> Says whether all have completed, and then does what hycoll_waitall does.
  subroutine hycoll_testall(requests, flag, ierror)
    type(hycoll_request), intent(inout) :: requests(:)
    logical, intent(out) :: flag
    integer, intent(out), optional :: ierror
    integer(c_int) :: found
    found = 0
    call finish(c_testall(int(size(requests), c_int), requests%c, found), ierror)
    flag = found /= 0
  end subroutine

  !> Completes those that have completed: the first `outcount` of `places` say which, from 1.
  !> MPI_UNDEFINED for `outcount` if none is under way.
  subroutine hycoll_testsome(requests, outcount, places, ierror)
    type(hycoll_request), intent(inout) :: requests(:)
    integer, intent(out) :: outcount
    integer, intent(inout) :: places(:)
    integer, intent(out), optional :: ierror
    integer(c_int) :: found, found_places(size(requests))
    call finish(c_testsome(int(size(requests), c_int), requests%c, found, found_places), ierror)
    outcount = found
    if (found > 0 .and. found <= size(requests)) places(:found) = found_places(:found)
  end subroutine

  ! PROCEDURES
end module
