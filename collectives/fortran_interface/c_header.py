"""The collectives and options that <hycoll.h> declares. The Fortran module and its tests are made of them."""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a collective. kind: buffer, count, counts, places, type, types, op or root."""

    name: str
    kind: str
    is_const: bool  # a buffer that is only read


@dataclasses.dataclass(frozen=True)
class Collective:
    name: str  # as in hycoll_NAME
    text: str  # what the header says of it
    parameters: list  # without the member


_KINDS = {
    "void*": "buffer",
    "MPI_Count": "count",
    "MPI_Count[]": "counts",
    "MPI_Aint[]": "places",
    "MPI_Datatype": "type",
    "MPI_Datatype[]": "types",
    "MPI_Op": "op",
    "int": "root",
}


def _parameter(declared):
    words = declared.split()
    name = words[-1]
    c_type = " ".join(words[:-1])
    is_const = c_type.startswith("const ")
    c_type = c_type.removeprefix("const ")
    if name.endswith("[]"):
        name, c_type = name[:-2], c_type + "[]"
    return Parameter(name, _KINDS[c_type], is_const)


def collectives(header):
    """Those with three forms, in the header's order, from its text."""
    found = re.findall(r"((?:^///.*\n)+)int hycoll_(\w+)\(([^;]*)\);", header, re.MULTILINE)
    names = {name for _, name, _ in found}
    made = []
    for comment, name, declared in found:
        if f"i{name}" not in names or f"{name}_init" not in names:
            continue
        text = re.sub(r"^/// ?", "", comment, flags=re.MULTILINE).strip()
        parameters = [part.strip() for part in declared.split(",")]
        assert parameters.pop() == "hycoll_member member", name
        made.append(Collective(name, text, [_parameter(parameter) for parameter in parameters]))
    assert len(made) == 17, [collective.name for collective in made]
    return made


def options(header):
    """(name, whether it is a text, what the header says) of each field of hycoll_options behind the first, its size."""
    struct = re.search(r"typedef struct hycoll_options \{(.*?)\} hycoll_options;", header, re.DOTALL)[1]
    fields = re.findall(r"^ *(.*?[ *])(\w+); *///< (.*)$", struct, re.MULTILINE)
    assert fields[0][1] == "size"
    return [(name, "char" in c_type, text) for c_type, name, text in fields[1:]]
