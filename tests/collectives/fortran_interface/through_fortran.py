"""Writes what the tests of the interface for C call instead of <hycoll.h>: through_fortran.py HEADER c|f90 >FILE

through_NAME(...) has the arguments of hycoll_NAME and calls the Fortran module. The procedures for a collective take turns:
those for handles of mpi_f08 and of mpi, for counts of 32 and 64 bits, and, where blocks are longs, the member's.
"""

import sys

import c_header

_FORMS = [("", ""), ("i", ""), ("", "_init")]
# The buffers that have a block of each member, as many elements as the count says.
_OF_ALL = {
    "reduce_scatter_block": ["sendbuf"],
    "allgather": ["recvbuf"],
    "gather": ["recvbuf"],
    "scatter": ["sendbuf"],
    "alltoall": ["sendbuf", "recvbuf"],
}
_C_TYPES = {
    "buffer": "void* {}",
    "count": "MPI_Count {}",
    "counts": "const MPI_Count* {}",
    "places": "const MPI_Aint* {}",
    "type": "MPI_Datatype {}",
    "types": "const MPI_Datatype* {}",
    "op": "MPI_Op {}",
    "root": "int {}",
}
_PASSED_TYPES = {
    "buffer": "void*",
    "count": "MPI_Count",
    "counts": "const MPI_Count*",
    "places": "const MPI_Aint*",
    "type": "MPI_Fint",
    "types": "const MPI_Fint*",
    "op": "MPI_Fint",
    "root": "int",
}


def in_place_buffer(collective):
    """The buffer that may be MPI_IN_PLACE; None: none."""
    if not any(p.name == "sendbuf" for p in collective.parameters):
        return None
    return "recvbuf" if collective.name.startswith("scatter") else "sendbuf"


def write_c(collectives):
    print("#ifndef THROUGH_FORTRAN_H_\n#define THROUGH_FORTRAN_H_\n// Made by through_fortran.py.")
    print("#include <hycoll.h>\n#include <stdatomic.h>\n#include <stddef.h>")
    print("#define CALLED(name) through_##name")
    print("static atomic_uint through_turn;")
    print("void through_types(const MPI_Datatype types[], int count, MPI_Fint made[]);")
    for collective in collectives:
        for before, behind in _FORMS:
            name = f"{before}{collective.name}{behind}"
            parameters = collective.parameters
            passed_types = [_PASSED_TYPES[p.kind] for p in parameters]
            print(f"int fortran_{name}({', '.join(['unsigned', 'int', 'int'] + passed_types)}, hycoll_member, hycoll_request*);")
            declared = []
            for parameter in parameters:
                declared.append(("const " if parameter.is_const and parameter.kind == "buffer" else "") + _C_TYPES[parameter.kind].format(parameter.name))
            has_request = before or behind
            declared += ["hycoll_member member"] + (["hycoll_request* request"] if has_request else [])
            print(f"static inline int through_{name}({', '.join(declared)}) {{")
            place = in_place_buffer(collective)
            print(f"  const int in_place = {f'{place} == MPI_IN_PLACE' if place else '0'};")
            types = [p.name for p in parameters if p.kind == "type"]
            are_longs = " && ".join([f"{one} == MPI_LONG" for one in types]) or "1"
            if any(p.kind == "types" for p in parameters):
                are_longs = "0"  # a member has no such procedure
            if place and len(types) == 2:
                are_longs = f"{'recvtype' if place == 'sendbuf' else 'sendtype'} == MPI_LONG && (in_place || ({are_longs}))"
            print("  int size = 0;\n  hycoll_size(member, &size);")
            arguments = []
            for parameter in parameters:
                if parameter.kind == "buffer":
                    value = f"(void*){parameter.name}"
                    arguments.append(f"in_place ? NULL : {value}" if parameter.name == place else value)
                elif parameter.kind == "type":
                    arguments.append(f"MPI_Type_c2f({parameter.name})")
                elif parameter.kind == "op":
                    arguments.append("MPI_Op_c2f(op)")
                elif parameter.kind == "types":
                    print(f"  MPI_Fint made_{parameter.name}[64];")
                    condition = "!in_place" if parameter.name.startswith("send") else "1"
                    print(f"  if ({condition}) through_types({parameter.name}, size, made_{parameter.name});")
                    arguments.append(f"made_{parameter.name}")
                else:
                    arguments.append(parameter.name)
            request = "request" if has_request else "NULL"
            print("  const unsigned turn = atomic_fetch_add(&through_turn, 1);")
            print(f"  return fortran_{name}({', '.join([f'turn % 4 + (turn / 4 % 3 > 0 && {are_longs} ? 4 : 0)', 'in_place', 'size'] + arguments)}, member, {request});\n}}")
    print("#endif  // THROUGH_FORTRAN_H_")


def extent(collective, parameter):
    """The elements of a buffer, as a Fortran expression."""
    counts = {p.name for p in collective.parameters if p.kind == "count"}
    own = {"sendbuf": ["sendcount", "count", "recvcount"], "recvbuf": ["recvcount", "count"], "buffer": ["count"]}
    has_all = [parameter.name] if parameter.name in _OF_ALL.get(collective.name, []) else []
    for p in collective.parameters:
        if p.kind in ("counts", "places", "types") and not (set(own[parameter.name]) & counts):
            return "1_c_int64_t"  # the lists say
    name = [one for one in own[parameter.name] if one in counts][0]
    if collective.name == "reduce_scatter_block" and parameter.name == "recvbuf":
        return "recvcount*merge(members, 1_int64, in_place /= 0)"
    return f"{name}*members" if has_all else name


def calls(collective, name, place, has_request):
    """The select construct over the turns, with a buffer in place or not."""
    text = "    select case (turn)\n"
    for turn in range(8):
        is_f08, is_long, of_member = turn % 2 == 0, turn // 2 % 2 == 0, turn >= 4
        if of_member and any(p.kind == "types" for p in collective.parameters):
            continue
        arguments = []
        for p in collective.parameters:
            value = p.name
            if p.kind == "buffer":
                value = "MPI_IN_PLACE" if p.name == place else f"{p.name}_array"
            elif of_member and p.kind in ("count", "type"):
                continue
            elif p.kind == "count":
                value = p.name if is_long else f"int({p.name}, int32)"
            elif p.kind == "counts":
                value = f"{p.name}(:members)" if is_long else f"int({p.name}(:members), int32)"
            elif p.kind == "places":
                # A pointer to nothing is an argument that is not there.
                value = f"{p.name}_given" if of_member else f"{p.name}_all"
                value += "" if is_long else "_short"
            elif p.kind == "type":
                value = f"MPI_Datatype({p.name})" if is_f08 else p.name
            elif p.kind == "types":
                value = f"{p.name}_f08" if is_f08 else f"{p.name}(:members)"
            elif p.kind == "op":
                value = "MPI_Op(op)" if is_f08 else "op"
            arguments.append(value)
        request = ["request"] if has_request else []
        if of_member:
            call = f"call member%{name}(" + ", ".join(arguments + request + ["code"]) + ")"
        else:
            call = f"call hycoll_{name}(" + ", ".join(arguments + ["member"] + request + ["code"]) + ")"
        text += f"    case ({turn})\n      " + call.replace(", ", ", &\n          ") + "\n"
    return text + "    end select\n"


def write_f90(collectives):
    print("! Made by through_fortran.py.\nmodule through_fortran\n  use, intrinsic :: iso_c_binding")
    print("  use, intrinsic :: iso_fortran_env, only: int32, int64\n  use mpi_f08\n  use hycoll\n  implicit none")
    print("  integer(int64), target :: unused(1)\ncontains")
    for collective in collectives:
        for before, behind in _FORMS:
            name = f"{before}{collective.name}{behind}"
            has_request = before or behind
            names = [p.name for p in collective.parameters]
            dummies = ", &\n      ".join(["turn", "in_place", "size", *names, "member_handle", "request_handle"])
            print(f"  function fortran_{name}({dummies}) result(code) bind(C)")
            print("    integer(c_int), value :: turn, in_place, size\n    integer(c_int64_t), value :: member_handle")
            print("    type(c_ptr), value :: request_handle\n    integer(c_int) :: code")
            print("    type(hycoll_member) :: member\n    type(hycoll_request) :: request\n    integer(int64) :: members")
            print("    integer(c_int64_t), pointer :: given_request")
            setup = "    members = size\n    member = transfer(member_handle, member)\n    code = -1\n"
            for p in collective.parameters:
                if p.kind == "buffer":
                    print(f"    type(c_ptr), value :: {p.name}\n    integer(int64), pointer :: {p.name}_array(:)")
                    setup += f"    {p.name}_array => unused\n"
                    setup += f"    if (c_associated({p.name})) call c_f_pointer({p.name}, {p.name}_array, [{extent(collective, p)}])\n"
                elif p.kind == "count":
                    print(f"    integer(c_int64_t), value :: {p.name}")
                elif p.kind == "counts":
                    print(f"    integer(c_int64_t), intent(in) :: {p.name}(*)")
                elif p.kind == "places":
                    counts = {"sdispls": "sendcounts", "rdispls": "recvcounts"}.get(p.name)
                    counts = counts or [q.name for q in collective.parameters if q.kind == "counts"][0]
                    print(f"    type(c_ptr), value :: {p.name}\n    integer(int64), pointer :: {p.name}_given(:)")
                    print(f"    integer(int32), pointer :: {p.name}_given_short(:)")
                    print(f"    integer(int64) :: {p.name}_all(size)\n    integer(int32), target :: {p.name}_all_short(size)")
                    setup += f"    nullify ({p.name}_given, {p.name}_given_short)\n"
                    is_sent = "send" in counts and in_place_buffer(collective) == "sendbuf"
                    setup += "    if (in_place == 0) then\n" if is_sent else "    block\n      integer :: i\n"
                    if is_sent:
                        setup += "    block\n      integer :: i\n"
                    setup += f"      {p.name}_all = [(sum({counts}(:i)), i = 0, size - 1)]\n    end block\n"
                    setup += "    end if\n" if is_sent else ""
                    setup += f"    if (c_associated({p.name})) then\n      call c_f_pointer({p.name}, {p.name}_given, [members])\n"
                    setup += f"      {p.name}_all = {p.name}_given\n      {p.name}_given_short => {p.name}_all_short\n    end if\n"
                    setup += f"    {p.name}_all_short = int({p.name}_all, int32)\n"
                elif p.kind == "types":
                    print(f"    integer(c_int), intent(in) :: {p.name}(*)\n    type(MPI_Datatype) :: {p.name}_f08(size)")
                    setup += f"    {p.name}_f08%MPI_VAL = {p.name}(:size)\n"
                else:
                    print(f"    integer(c_int), value :: {p.name}")
            print(setup, end="")
            place = in_place_buffer(collective)
            if place:
                print("    if (in_place /= 0) then")
                print(calls(collective, name, place, has_request), end="    else\n")
            print(calls(collective, name, None, has_request), end="    end if\n" if place else "")
            print("    if (c_associated(request_handle)) then\n      call c_f_pointer(request_handle, given_request)")
            print("      given_request = transfer(request, given_request)\n    end if\n  end function\n")
    print("end module")


def main(header_path, language):
    with open(header_path, encoding="utf-8") as file:
        collectives = c_header.collectives(file.read())
    {"c": write_c, "f90": write_f90}[language](collectives)


main(*sys.argv[1:])
