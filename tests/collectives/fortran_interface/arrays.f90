!> What members' procedures take from arrays: type, kind, rank and number of elements.
module test_arrays
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use mpi_f08
  use hycoll
  use checks
  implicit none
  private
  public :: check_arrays

contains

  subroutine check_arrays()
    type(hycoll_member) :: world
    type(hycoll_options) :: options
    call world%create(MPI_COMM_WORLD)
    call reduce_all_kinds(world)
    call move_parts(world)
    call world%free()
    options%layout = 'processes'
    options%pinning = 0
    call world%create(MPI_COMM_WORLD, options)
    call reduce_all_kinds(world)
    call move_parts(world)
    call world%free()
  end subroutine

  subroutine reduce_all_kinds(world)
    type(hycoll_member), intent(in) :: world
    integer(int8) :: i1, sum1
    integer(int16) :: i2(3), sum2(3)
    integer(int32) :: i4(2, 3), sum4(2, 3)
    integer(int64) :: i8(2, 2, 2)
    real(real32) :: r4(5), sum_r4(5)
    real(real64), allocatable :: r8(:), sum_r8(:)
    complex(real32) :: c4(2), sum_c4(2)
    complex(real64) :: c8, product_c8
    logical :: is_first, are_first(2)
    integer :: members, all_ranks
    members = world%size()
    all_ranks = members*(members + 1)/2
    i1 = int(world%rank() + 1, int8)
    call world%allreduce(i1, sum1, MPI_SUM)
    call check(sum1 == all_ranks, 'the sum of integers of 8 bits')
    i2 = i1
    call world%allreduce(i2, sum2, MPI_MAX)
    call check(all(sum2 == members), 'the most of integers of 16 bits')
    i4 = i1
    call world%allreduce(i4, sum4, MPI_SUM)
    call check(all(sum4 == all_ranks), 'the sum of an array of rank 2')
    i8 = i1
    call world%allreduce(MPI_IN_PLACE, i8, MPI_SUM)
    call check(all(i8 == all_ranks), 'the sum of an array of rank 3, in place')
    r4 = i1
    sum_r4 = -1
    ! The first two columns of an array are contiguous, and so is a part of a vector.
    call world%allreduce(r4(2:4), sum_r4(2:4), MPI_SUM)
    call check(all(sum_r4(2:4) == all_ranks) .and. sum_r4(1) == -1 .and. sum_r4(5) == -1, 'a part of a vector')
    call world%allreduce(i4(:, 2:3), sum4(:, 1:2), MPI_MIN)
    call check(all(sum4(:, 1:2) == 1) .and. all(sum4(:, 3) == all_ranks), 'columns of an array')
    allocate (r8(0:999), sum_r8(1000))
    r8 = i1
    call world%allreduce(r8, sum_r8, MPI_SUM)
    call check(all(sum_r8 == all_ranks), 'the sum of allocated arrays')
    c4 = cmplx(1, i1)
    call world%allreduce(c4, sum_c4, MPI_SUM)
    call check(all(sum_c4 == cmplx(members, all_ranks)), 'the sum of complex numbers')
    c8 = (0, 1)
    call world%allreduce(c8, product_c8, MPI_PROD)
    call check(product_c8 == (0, 1)**members, 'the product of complex numbers')
    is_first = world%rank() == 0
    call world%allreduce(is_first, are_first(1), MPI_LAND)
    call world%allreduce(is_first, are_first(2), MPI_LOR)
    call check((are_first(1) .eqv. members == 1) .and. are_first(2), 'logical operators')
    ! An array without elements has none to reduce.
    call world%allreduce(r4(3:2), sum_r4(3:2), MPI_SUM)
    call check(sum_r4(3) == all_ranks, 'no elements')
  end subroutine

  subroutine move_parts(world)
    type(hycoll_member), intent(in) :: world
    character(7) :: texts(2)
    integer :: own(2), rank, members, i
    integer, allocatable :: all_of(:, :), row(:), counts(:), displs(:)
    rank = world%rank()
    members = world%size()
    texts = merge('seventh', '       ', rank == members - 1)
    call world%bcast(texts, members - 1)
    call check(all(texts == 'seventh'), 'a broadcast of texts')
    own = [10*rank, 10*rank + 1]
    ! More elements than are needed: two more columns.
    allocate (all_of(2, members + 2), row(2*members), counts(members))
    all_of = -1
    call world%allgather(own, all_of)
    call check(all(all_of(1, :members) == [(10*i, i = 0, members - 1)]), 'an allgather')
    call check(all(all_of(:, members + 1:) == -1), 'an allgather writes beyond its blocks')
    call world%gather(own, all_of, 0)
    call world%scatter(all_of, own, 0)
    call check(own(2) == 10*rank + 1, 'a scatter of what was gathered')
    row = [(100*rank + i, i = 1, 2*members)]
    call world%alltoall(MPI_IN_PLACE, row)
    call check(all(row(1::2) == [(100*i + 2*rank + 1, i = 0, members - 1)]), 'an all-to-all')
    counts = 2
    displs = [(2*i, i = members - 1, 0, -1)]
    call world%allgatherv(own, row, counts, displs)
    call check(row(2*members - 1) == 0 .and. row(1) == 10*(members - 1), 'blocks in another order')
    call world%reduce_scatter(row, own, counts, MPI_SUM)
    call check(own(2) == members*(10*(members - 1 - rank) + 1), 'a reduction of blocks')
    call world%reduce(rank, members, MPI_MAX, 0)
    call world%barrier()
  end subroutine
end module
