!> Checks by any thread, which are counted with those in C.
module checks
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: check, check_refused, failure_count

  interface
    subroutine check_in_fortran(holds, what) bind(C)
      import :: c_char, c_int
      integer(c_int), value :: holds
      character(kind=c_char), intent(in) :: what(*)
    end subroutine
    function failure_count() bind(C)
      import :: c_int
      integer(c_int) :: failure_count
    end function
  end interface

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    call check_in_fortran(merge(1_c_int, 0_c_int, holds), what//c_null_char)
  end subroutine

  !> Checks that a call was refused with this class and a text that says so.
  subroutine check_refused(code, class, text, said)
    integer, intent(in) :: code, class
    character(*), intent(in) :: text, said
    character(20) :: found, expected
    write (found, '(i0)') code
    write (expected, '(i0)') class
    call check(code == class, 'class '//trim(found)//', expected '//trim(expected)//': '//text)
    call check(index(text, said) > 0, "'"//text//"' does not say '"//said//"'")
  end subroutine
end module
