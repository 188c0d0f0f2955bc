! An error without ierror.
program fatal
  use mpi_f08
  use hycoll
  implicit none
  type(hycoll_member) :: world
  integer :: level, value
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call world%create(MPI_COMM_WORLD)
  value = 1
  call world%bcast(value, 99)
  print '(a)', 'the program went on'
  call MPI_Finalize()
end program
