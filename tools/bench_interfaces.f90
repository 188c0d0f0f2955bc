!> The calls in Fortran of bench_interfaces.cc.
module bench_interfaces
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use hycoll
  implicit none
  type(hycoll_member) :: member

contains

  !> The member that calls are made on. 0: there is an error.
  integer(c_int) function fortran_create(is_per_node) bind(C) result(is_right)
    integer(c_int), value :: is_per_node
    type(hycoll_options) :: options
    integer :: code
    options%layout = 'processes'
    if (is_per_node /= 0) options%layout = 'per_node'
    options%workers = 1
    call member%create(MPI_COMM_WORLD, options, code)
    is_right = merge(1, 0, code == MPI_SUCCESS)
  end function

  !> So many calls, in which arrays say what they hold, or, like MPI's, arguments.
  integer(c_int) function fortran_allreduces(calls, is_like_mpi) bind(C) result(is_right)
    integer(c_int), value :: calls, is_like_mpi
    real(c_double) :: own(1), sum(1)
    integer :: i, code
    own = 1
    is_right = 1
    do i = 1, calls
      if (is_like_mpi /= 0) then
        call hycoll_allreduce(own, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, member, code)
      else
        call member%allreduce(own, sum, MPI_SUM, code)
      end if
      if (code /= MPI_SUCCESS) is_right = 0
    end do
  end function

  subroutine fortran_free() bind(C)
    call member%free()
  end subroutine
end module
