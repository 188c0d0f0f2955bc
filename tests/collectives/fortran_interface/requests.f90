!> Waiting for one, some and all of several requests, and persistent ones.
module test_requests
  use mpi_f08
  use hycoll
  use checks
  implicit none
  private
  public :: check_requests
  integer, parameter :: several = 4

contains

  subroutine check_requests()
    type(hycoll_member) :: world
    type(hycoll_request) :: requests(several), none
    integer, asynchronous :: own(several), sums(several)
    integer :: i, place, outcount, places(several), completed, members
    logical :: flag, was_completed(several)
    call world%create(MPI_COMM_WORLD)
    members = world%size()
    own = [(i, i = 1, several)]

    call begin()
    call hycoll_waitall(requests)
    call check(all(sums == members*own), 'waitall')
    call hycoll_waitall(requests)
    call none%wait()
    call none%test(flag)
    call check(flag, 'a request that is none')

    call begin()
    was_completed = .false.
    do i = 1, several
      call hycoll_waitany(requests, place)
      call check(place >= 1 .and. place <= several, 'waitany: a place')
      call check(.not. was_completed(place), 'waitany: one twice')
      was_completed(place) = .true.
    end do
    call hycoll_waitany(requests, place)
    call check(place == MPI_UNDEFINED .and. all(sums == members*own), 'waitany')

    call begin()
    completed = 0
    do while (completed < several)
      call hycoll_testsome(requests, outcount, places)
      call check(outcount /= MPI_UNDEFINED .and. all(places(:outcount) >= 1), 'testsome: places')
      completed = completed + outcount
    end do
    call hycoll_testsome(requests, outcount, places)
    call check(outcount == MPI_UNDEFINED .and. all(sums == members*own), 'testsome')

    call begin()
    flag = .false.
    do while (.not. flag)
      call hycoll_testall(requests, flag)
    end do
    call check(all(sums == members*own), 'testall')

    do i = 1, several
      call world%allreduce_init(own(i), sums(i), MPI_SUM, requests(i))
    end do
    do i = 1, several
      call requests(i)%start()
    end do
    call hycoll_waitall(requests)
    own = 2*own
    sums = 0
    call requests(2)%start()
    call requests(2)%wait()
    call check(sums(2) == 4*members .and. sums(1) == 0, 'a persistent call that is started again')
    do i = 1, several
      call requests(i)%free()
    end do
    call world%free()

  contains

    subroutine begin()
      sums = 0
      do i = 1, several
        call world%iallreduce(own(i), sums(i), MPI_SUM, requests(i))
      end do
    end subroutine
  end subroutine
end module
