! The interface for Fortran: a sum over all processes, which are the members of a communicator.
program allreduce
  use mpi_f08
  use hycoll
  implicit none
  type(hycoll_member) :: world
  integer :: level, members
  real(8) :: own(3), sums(3)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call world%create(MPI_COMM_WORLD)
  members = world%size()
  own = world%rank() + 1
  call world%allreduce(own, sums, MPI_SUM)
  ! The same with MPI's arguments.
  call hycoll_allreduce(own, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, world)
  if (world%rank() == 0) print '(i0, a, i0)', members, ' members, sum ', nint(sums(1))
  call world%free()
  call MPI_Finalize()
  if (nint(sums(1)) /= members*(members + 1)/2) stop 1
end program
