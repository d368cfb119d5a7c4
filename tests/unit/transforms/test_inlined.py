from __future__ import annotations

from profkit.model.function_counts import FunctionCount
from profkit.transforms.inlined import join_inlined

PYTHON = "/usr/bin/python3.12"


def test_inlined_code_belongs_to_the_function_that_has_it() -> None:
    rows = (
        FunctionCount(f"Python/ceval.c:eval [{PYTHON}]", 100, 900, 3, PYTHON),
        FunctionCount("Include/object.h:eval", 40, 40),
        FunctionCount("Python/generated.h:eval", 60, 60),
        FunctionCount("Include/object.h:other", 5, 5),
    )
    joined = join_inlined(rows)
    assert [(row.name, row.exclusive, row.inclusive, row.calls) for row in joined] == [
        (f"Python/ceval.c:eval [{PYTHON}]", 200, 900, 3),
        ("Include/object.h:other", 5, 5, 0),
    ]


def test_a_name_that_several_files_define_stays_apart() -> None:
    rows = (
        FunctionCount(f"a.c:helper [{PYTHON}]", 1, 1, 1, PYTHON),
        FunctionCount(f"b.c:helper [{PYTHON}]", 2, 2, 1, PYTHON),
        FunctionCount("x.h:helper", 4, 4),
    )
    assert join_inlined(rows) == rows


def test_names_with_colons() -> None:
    rows = (
        FunctionCount("a.cpp:at::add(int)", 1, 5, 1, "/lib/libtorch.so"),
        FunctionCount("vector:at::add(int)", 2, 2),
    )
    assert [row.exclusive for row in join_inlined(rows)] == [3]
