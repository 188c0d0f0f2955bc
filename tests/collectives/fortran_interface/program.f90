! The interface for Fortran, used from Fortran 2018; all collectives are called as the tests in C say.
program fortran_interface
  use mpi_f08
  use hycoll
  use checks
  use test_arrays
  use test_mistakes
  use test_requests
  use test_teams
  implicit none
  integer :: level, rank, failed, before
  interface
    subroutine test_collectives() bind(C)
    end subroutine
  end interface
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  failed = 0
  call run(check_arrays)
  call run(check_teams)
  call run(check_requests)
  call run(check_mistakes)
  before = failure_count()
  call test_collectives()
  if (failure_count() > before) failed = failed + 1
  call make_handles_to_end()
  call MPI_Finalize()
  call run(check_ended)
  if (rank == 0) then
    print '(a, i0, a, i0, a)', '[fortran_interface] test cases: 6 | ', 6 - failed, ' passed | ', failed, &
        ' failed | 0 skipped'
  end if
  if (failed > 0) stop 1

contains

  subroutine run(test)
    interface
      subroutine test()
      end subroutine
    end interface
    before = failure_count()
    call test()
    if (failure_count() > before) failed = failed + 1
  end subroutine
end program
