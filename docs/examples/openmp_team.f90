! The interface for Fortran: every OpenMP thread of every process is a member with a vector of its own.
program openmp_team
  use omp_lib
  use mpi_f08
  use hycoll
  implicit none
  integer, parameter :: threads = 2
  type(hycoll_team) :: team
  type(hycoll_member) :: member
  integer :: level, members, wrong
  real(8) :: gradient(1000)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call team%create(MPI_COMM_WORLD, threads)
  wrong = 0
  !$omp parallel num_threads(threads) private(member, members, gradient) reduction(+: wrong)
  call team%join(omp_get_thread_num(), member)
  members = member%size()
  gradient = member%rank() + 1
  ! On every thread, the sum over all threads of all processes.
  call member%allreduce(MPI_IN_PLACE, gradient, MPI_SUM)
  wrong = count(nint(gradient) /= members*(members + 1)/2)
  if (member%rank() == 0) print '(i0, a, i0)', members, ' members, sum ', nint(gradient(1))
  !$omp end parallel
  call team%free()
  call MPI_Finalize()
  if (wrong > 0) stop 1
end program
