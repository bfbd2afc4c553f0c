"""Mutants of a Python file: each differs from it by one operator, number or word.

cosmic-ray makes them.
"""

import ast
import contextlib
import difflib
import functools
import resource
from typing import NamedTuple

MOST_MEMORY = 4 << 30


class Place(NamedTuple):
    """Where a file can be changed: the n-th place for an operator of cosmic-ray."""

    file: str
    operator: str
    occurrence: int


class Mutant(NamedTuple):
    """One change of one file: what differs, the operator of cosmic-ray, and the whole source."""

    file: str
    function: str
    before: str
    after: str
    operator: str
    source: str

    @property
    def key(self):
        """What it is known by, wherever lines move to."""
        return self[:4]

    @property
    def change(self):
        """What differs, and where, in one line."""
        before, after = (" ⏎ ".join(text.split("\n")) for text in (self.before, self.after))
        return f"{self.function or 'at the top'}: {before}  →  {after}"


def limit_memory():
    """Give this process no more memory than a mutant needs: one may ask for all there is."""
    with contextlib.suppress(ValueError, OSError):  # macOS does not limit it.
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


@functools.cache
def operators():
    """Return the operators of cosmic-ray that need no arguments, by name."""
    # Imported late: what else is here needs no cosmic-ray.
    from cosmic_ray.plugins import get_operator, operator_names

    found = {name.partition("/")[2]: get_operator(name) for name in operator_names()}
    return {name: operator for name, operator in found.items() if not operator.arguments()}


def places_in(file, source):
    """Return where a file can be changed."""
    from cosmic_ray.ast import ast_nodes, get_ast

    nodes = list(ast_nodes(get_ast(source)))
    return [
        Place(file, name, occurrence)
        for name, operator in operators().items()
        for occurrence in range(sum(len(list(operator().mutation_positions(n))) for n in nodes))
    ]


def mutant_at(place, source):
    """Return the mutant of a source at a place, if it is Python and another program, or None."""
    from cosmic_ray.mutating import mutate_code

    mutated = mutate_code(source, operators()[place.operator](), place.occurrence)
    if program(mutated) in (None, program(source)):
        return None
    line, before, after = difference(source, mutated)
    function = function_at(source, line)
    return Mutant(place.file, function, before, after, place.operator, mutated)


@functools.cache
def program(source):
    """Return what a source comes to; None if it is no Python.

    Annotations that are not evaluated are no part of that.
    """
    try:
        compile(source, "mutant.py", "exec", dont_inherit=True)
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    if "from __future__ import annotations" not in source:
        return ast.dump(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def difference(source, mutated):
    """Return the number of the first line that differs, and what differs, before and after."""
    lines, others = source.splitlines(), mutated.splitlines()
    blocks = difflib.SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    (_, start, _, start_after, _), (_, _, stop, _, stop_after) = changed[0], changed[-1]
    while start < stop and not lines[start].strip():
        start += 1
    return start + 1, _joined(lines[start:stop]), _joined(others[start_after:stop_after])


def _joined(lines):
    return "\n".join(line.strip() for line in lines).strip()


def function_at(source, line):
    """Return the name of the innermost function around a line; "" where there is none.

    A decorator is no part of what it decorates.
    """
    functions = functions_of(ast.parse(source))
    around = [name for name, node in functions if node.lineno <= line <= node.end_lineno]
    return max(around, key=len, default="")


def functions_of(tree, inside=""):
    """Give each function and its name, dotted where it is inside another or a class."""
    for node in ast.iter_child_nodes(tree):
        name = f"{inside}{node.name}" if hasattr(node, "name") else ""
        if isinstance(node, ast.FunctionDef):
            yield name, node
        yield from functions_of(node, f"{name}." if name else inside)
