!> Threads of OpenMP as members, with options and without.
module test_teams
  use, intrinsic :: iso_fortran_env, only: real64
  use omp_lib
  use mpi_f08
  use hycoll
  use checks
  implicit none
  private
  public :: check_teams
  integer, parameter :: threads = 2

contains

  subroutine check_teams()
    type(hycoll_options) :: options
    options%pinning = 0
    call reduce_in_regions(options)
    options%layout = 'processes'
    call reduce_in_regions(options)
  end subroutine

  subroutine reduce_in_regions(options)
    type(hycoll_options), intent(in) :: options
    type(hycoll_team) :: team
    type(hycoll_member) :: member
    type(hycoll_request) :: request
    integer :: region, members
    real(real64) :: own(100), sum_of(100)
    call team%create(MPI_COMM_WORLD, threads, options)
    ! A member is the same in each region.
    do region = 1, 3
      !$omp parallel num_threads(threads) private(member, request, own, sum_of, members)
      call team%join(omp_get_thread_num(), member)
      members = member%size()
      own = member%rank() + 1
      call member%allreduce(own, sum_of, MPI_SUM)
      call check(all(sum_of == members*(members + 1)/2), 'a sum over threads')
      call member%iscan(own, sum_of, MPI_SUM, request)
      call request%wait()
      call check(all(sum_of == own*(own + 1)/2), 'a scan over threads')
      !$omp end parallel
    end do
    call team%free()
  end subroutine
end module
