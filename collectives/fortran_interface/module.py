"""Writes the module `hycoll`: python3 module.py HEADER TEMPLATE >hycoll.f90

HEADER is <hycoll.h>, whose collectives and options the module has; TEMPLATE the module without them. Each collective has

- hycoll_NAME, hycoll_iNAME and hycoll_NAME_init with MPI's arguments, for datatypes and operators of mpi_f08 and of mpi, and
  for counts of 32 and 64 bits;
- the same as procedures of a member, NAME, iNAME and NAME_init, where buffers say what they hold.
"""

import sys

import c_header

_FORMS = [("blocking", "", ""), ("nonblocking", "i", ""), ("persistent", "", "_init")]
_HANDLES = {"f08": "type({})", "mpi": "integer(c_int)"}
_NUMBERS = {"i32": "int32", "i64": "int64"}
_WIDTH = 100


def filled(indent, head, parts, tail=""):
    """`head` and the parts, with commas between them and `tail` behind, in lines that are continued."""
    lines = [" " * indent + head]
    words = [part + ", " for part in parts[:-1]] + parts[-1:] + [tail]
    for word in words:
        if len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] = lines[-1].rstrip() + " &"
            lines.append(" " * (indent + 4))
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines) + "\n"


def is_deduced(parameter):
    """Whether a buffer says it, where a member's procedure is called."""
    return parameter.kind in ("count", "type")


def variants(parameters):
    """The (handles, numbers) that parameters come in."""
    handles = ["f08", "mpi"] if any(p.kind in ("type", "types", "op") for p in parameters) else [None]
    numbers = ["i32", "i64"] if any(p.kind in ("count", "counts", "places") for p in parameters) else [None]
    return [(h, n) for h in handles for n in numbers]


def declaration(parameter, handles, numbers, form, is_optional=False):
    """Of a dummy argument of the module's procedures."""
    kind = parameter.kind
    later = ", asynchronous" if form != "blocking" else ""
    intent = ", intent(in)" + (", optional" if is_optional else "")
    if kind == "buffer":
        intent = ", intent(in)" if parameter.is_const else ""
        return f"type(*), dimension(..){intent}{later} :: {parameter.name}"
    if kind == "count":
        return f"integer({_NUMBERS[numbers]}){intent} :: {parameter.name}"
    if kind in ("counts", "places"):
        return f"integer({_NUMBERS[numbers]}){intent} :: {parameter.name}(:)"
    if kind == "root":
        return f"integer{intent} :: {parameter.name}"
    handle = _HANDLES[handles].format("MPI_Op" if kind == "op" else "MPI_Datatype")
    return f"{handle}{intent} :: {parameter.name}" + ("(:)" if kind == "types" else "")


def passed(parameter, handles):
    """The argument of the C function's."""
    value = parameter.name
    if parameter.kind == "count":
        value = f"int({value}, c_int64_t)"
    elif parameter.kind in ("type", "op") and handles == "f08":
        value += "%MPI_VAL"
    elif parameter.kind == "root":
        value = f"int({value}, c_int)"
    return f"{parameter.name}={value}"


def procedure(name, collective, form, handles, numbers, of_member):
    """One that calls the C function. of_member: a procedure of a member."""
    parameters = [p for p in collective.parameters if not (of_member and is_deduced(p))]
    request = ["request"] if form != "blocking" else []
    dummies = [p.name for p in parameters]
    dummies = ["member"] + dummies if of_member else dummies + ["member"]
    text = filled(2, f"subroutine {name}(", dummies + request + ["ierror"], ")")
    for parameter in parameters:
        is_optional = of_member and parameter.kind == "places"
        text += f"    {declaration(parameter, handles, numbers, form, is_optional)}\n"
    text += f"    {'class' if of_member else 'type'}(hycoll_member), intent(in) :: member\n"
    text += "    type(hycoll_request), intent(out) :: request\n" if request else "    type(c_handle) :: none\n"
    text += "    integer, intent(out), optional :: ierror\n"
    # With a space: an argument of another name.
    arguments = [form, "member%c", "request%c" if request else "none"] + [passed(p, handles) for p in parameters]
    text += filled(4, f"call finish(c_{collective.name}(", arguments, "), ierror)")
    return text + "  end subroutine\n"


def c_interface(collective):
    """Of the C function."""
    names = [p.name for p in collective.parameters]
    text = filled(4, f"function c_{collective.name}(", ["form", "member", "request"] + names, ") &").rstrip()
    text += f'\n        result(code) bind(C, name="hycoll_fortran_{collective.name}")\n'
    text += "      import :: c_handle, c_int, c_int64_t\n      integer(c_int), value :: form\n"
    text += "      type(c_handle), value :: member\n      type(c_handle) :: request\n"
    for parameter in collective.parameters:
        declared = {
            "buffer": "type(*), dimension(..)" + (", intent(in)" if parameter.is_const else ""),
            "count": "integer(c_int64_t), intent(in), optional",
            "type": "integer(c_int), intent(in), optional",
            "op": "integer(c_int), value",
            "root": "integer(c_int), value",
        }.get(parameter.kind, "type(*), dimension(..), intent(in), optional")
        text += f"      {declared} :: {parameter.name}\n"
    return text + "      integer(c_int) :: code\n    end function\n"


def main(header_path, template_path):
    with open(header_path, encoding="utf-8") as file:
        header = file.read()
    with open(template_path, encoding="utf-8") as file:
        text = file.read()
    collectives = c_header.collectives(header)
    generics, bindings, procedures, public = "", "", "", []
    for collective in collectives:
        generics += "".join(f"  !> {line}\n" for line in collective.text.splitlines())
        for form, before, behind in _FORMS:
            name = f"{before}{collective.name}{behind}"
            public.append(f"hycoll_{name}")
            of_mpi = [
                ("_".join(["mpi_like", name] + [part for part in variant if part]), variant)
                for variant in variants(collective.parameters)
            ]
            generics += f"  interface hycoll_{name}\n"
            generics += filled(4, "module procedure :: ", [specific for specific, _ in of_mpi])
            generics += "  end interface\n"
            for specific, variant in of_mpi:
                procedures += procedure(specific, collective, form, *variant, of_member=False) + "\n"
            if any(p.kind == "types" for p in collective.parameters):
                continue  # buffers do not say which type a block has
            left = [p for p in collective.parameters if not is_deduced(p)]
            of_member = [
                ("_".join(["member", name] + [part for part in variant if part]), variant) for variant in variants(left)
            ]
            names = [specific for specific, _ in of_member]
            bindings += filled(4, "procedure, private :: ", names)
            bindings += filled(4, f"generic :: {name} => ", names)
            for specific, variant in of_member:
                procedures += procedure(specific, collective, form, *variant, of_member=True) + "\n"
    fields, c_fields, copies = "", "      integer(c_size_t) :: size\n", ""
    for field, is_text, said in c_header.options(header):
        declared = f"character(:), allocatable :: {field}" if is_text else f"integer :: {field} = hycoll_unset"
        fields += f"    {declared}  !< {said}\n"
        c_fields += f"    {'type(c_ptr)' if is_text else 'integer(c_int)'} :: {field}\n"
        copies += f"    c%{field} = address_of(options%{field}, kept)\n" if is_text else f"    c%{field} = options%{field}\n"
    for place, made in {
        "  ! PUBLIC\n": filled(2, "public :: ", public),
        "    ! BINDINGS\n": bindings,
        "  ! GENERICS\n": generics,
        "    ! C_INTERFACES\n": "\n".join(c_interface(collective) for collective in collectives),
        "  ! PROCEDURES\n": procedures,
        "    ! OPTIONS\n": fields,
        "    ! C_OPTIONS\n": c_fields.replace("      integer(c_size_t)", "    integer(c_size_t)"),
        "    ! COPIED_OPTIONS\n": copies,
    }.items():
        assert text.count(place) == 1, place
        text = text.replace(place, made)
    sys.stdout.write(text)


main(*sys.argv[1:])
