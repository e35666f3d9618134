"""Whether two engines gave the same results: CSV texts, each one or more tables that begin with a header `model,...`."""
import csv
import io
import re


def rows_of(text):
    """The rows of each result; a header line starts one."""
    parts = re.split(r"(?m)^(?=model,)", text)
    return [[r for r in csv.reader(io.StringIO(p)) if r][1:] for p in parts if p.strip()]


def equal(u, v):
    """Texts as they are, numbers to a relative 1e-9; what is not a number equals nothing."""
    try:
        return abs(float(u) - float(v)) <= 1e-9 * max(abs(float(v)), 1e-3)
    except ValueError:
        return u == v


def same(a, b):
    """Whether two results have the same tables, rows and cells."""
    a, b = rows_of(a), rows_of(b)
    shape = lambda tables: [[len(row) for row in table] for table in tables]
    cells = lambda tables: (cell for table in tables for row in table for cell in row)
    return shape(a) == shape(b) and all(map(equal, cells(a), cells(b)))
