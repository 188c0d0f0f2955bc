! Conjugate gradients in Fortran with OpenMP: the Laplacian of a square grid, whose rows are dealt to processes, and those of a
! process to its threads. Each step needs two dot products over all threads of all processes. Two ways to get them take turns:
!
!   MPI      threads add up their parts, and the first one calls MPI_Allreduce for all, as hybrid programs mostly do
!   hycoll   each thread is a member of a team, and calls allreduce with its own part
!
! usage: mpiexec -n P ./cg [columns] [rows of a process] [steps] [blocks]
program cg
  use, intrinsic :: iso_fortran_env, only: real64
  use omp_lib
  use mpi_f08
  use hycoll
  implicit none
  integer, parameter :: way_mpi = 1, way_hycoll = 2
  integer :: columns = 256, rows = 128, steps = 100, blocks = 5
  integer :: level, rank, processes, block, way
  real(real64), allocatable :: x(:, :), r(:, :), p(:, :), ap(:, :), seconds(:, :)
  real(real64) :: residuals(2), shared
  type(hycoll_team) :: team
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  call read_argument(1, columns)
  call read_argument(2, rows)
  call read_argument(3, steps)
  call read_argument(4, blocks)
  ! A column more on each side, and rows of the neighbours: zeros at the grid's border.
  allocate (x(0:columns + 1, 0:rows + 1), r(0:columns + 1, 0:rows + 1))
  allocate (p(0:columns + 1, 0:rows + 1), ap(0:columns + 1, 0:rows + 1), seconds(blocks, 2))
  call team%create(MPI_COMM_WORLD, omp_get_max_threads())
  do block = 1, blocks
    do way = way_mpi, way_hycoll
      call solve(way, seconds(block, way), residuals(way))
    end do
  end do
  call team%free()
  if (rank == 0) then
    print '(i0, a, i0, a)', processes, ' processes with ', omp_get_max_threads(), ' threads each'
    print '(a, f9.2, a)', 'MPI    ', 1e6*median(seconds(:, way_mpi))/steps, ' us a step'
    print '(a, f9.2, a)', 'hycoll ', 1e6*median(seconds(:, way_hycoll))/steps, ' us a step'
    print '(a, es9.2)', 'residual', residuals(way_hycoll)
  end if
  ! Both ways take the same steps; sums in another order differ in their last digits.
  if (abs(residuals(1) - residuals(2)) > 1e-6*residuals(1)) stop 'the two ways differ'
  call MPI_Finalize()

contains

  subroutine read_argument(place, value)
    integer, intent(in) :: place
    integer, intent(inout) :: value
    character(20) :: text
    if (command_argument_count() < place) return
    call get_command_argument(place, text)
    read (text, *) value
  end subroutine

  subroutine solve(way, time, residual)
    integer, intent(in) :: way
    real(real64), intent(out) :: time, residual
    real(real64) :: start, alpha, rr, rr_next, part
    integer :: first, last, step
    type(hycoll_member) :: member
    x = 0
    r = 0
    r(1:columns, 1:rows) = 1
    p = r
    call MPI_Barrier(MPI_COMM_WORLD)
    start = MPI_Wtime()
    !$omp parallel private(first, last, step, alpha, rr, rr_next, part, member)
    call team%join(omp_get_thread_num(), member)
    first = 1 + rows*omp_get_thread_num()/omp_get_num_threads()
    last = rows*(omp_get_thread_num() + 1)/omp_get_num_threads()
    rr = total(way, sum(r(1:columns, first:last)**2), member)
    do step = 1, steps
      !$omp barrier
      !$omp master
      call exchange_rows(p)
      !$omp end master
      !$omp barrier
      call apply(p, ap, first, last)
      part = sum(p(1:columns, first:last)*ap(1:columns, first:last))
      alpha = rr/total(way, part, member)
      x(1:columns, first:last) = x(1:columns, first:last) + alpha*p(1:columns, first:last)
      r(1:columns, first:last) = r(1:columns, first:last) - alpha*ap(1:columns, first:last)
      rr_next = total(way, sum(r(1:columns, first:last)**2), member)
      p(1:columns, first:last) = r(1:columns, first:last) + rr_next/rr*p(1:columns, first:last)
      rr = rr_next
    end do
    !$omp master
    residual = sqrt(rr)
    !$omp end master
    !$omp end parallel
    time = MPI_Wtime() - start
  end subroutine

  !> The sum of all threads' parts, on each.
  function total(way, part, member)
    integer, intent(in) :: way
    real(real64), intent(in) :: part
    type(hycoll_member), intent(in) :: member
    real(real64) :: total
    if (way == way_hycoll) then
      call member%allreduce(part, total, MPI_SUM)
      return
    end if
    !$omp single
    shared = 0
    !$omp end single
    !$omp atomic
    shared = shared + part
    !$omp barrier
    !$omp master
    call MPI_Allreduce(MPI_IN_PLACE, shared, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    !$omp end master
    !$omp barrier
    total = shared
    !$omp barrier
  end function

  subroutine apply(from, to, first, last)
    real(real64), intent(in) :: from(0:columns + 1, 0:rows + 1)
    real(real64), intent(inout) :: to(0:columns + 1, 0:rows + 1)
    integer, intent(in) :: first, last
    integer :: i, j
    do j = first, last
      do i = 1, columns
        to(i, j) = 4*from(i, j) - from(i - 1, j) - from(i + 1, j) - from(i, j - 1) - from(i, j + 1)
      end do
    end do
  end subroutine

  !> Rows at the borders of processes.
  subroutine exchange_rows(of)
    real(real64), intent(inout) :: of(0:columns + 1, 0:rows + 1)
    integer :: below, above
    below = merge(MPI_PROC_NULL, rank - 1, rank == 0)
    above = merge(MPI_PROC_NULL, rank + 1, rank == processes - 1)
    call MPI_Sendrecv(of(:, 1), columns + 2, MPI_DOUBLE_PRECISION, below, 0, &
        of(:, rows + 1), columns + 2, MPI_DOUBLE_PRECISION, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(of(:, rows), columns + 2, MPI_DOUBLE_PRECISION, above, 1, &
        of(:, 0), columns + 2, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine

  function median(values)
    real(real64), intent(in) :: values(:)
    real(real64) :: median, sorted(size(values)), value
    integer :: i, j
    sorted = values
    do i = 2, size(sorted)
      value = sorted(i)
      do j = i - 1, 1, -1
        if (sorted(j) <= value) exit
        sorted(j + 1) = sorted(j)
      end do
      sorted(j + 1) = value
    end do
    median = sorted((size(sorted) + 1)/2)
  end function
end program
