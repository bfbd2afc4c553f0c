"""Code in which one of its functions is replaced by a right one, for as long as a call takes."""

from __future__ import annotations

import contextlib
import copy
import types
from collections.abc import Callable, Iterator
from typing import Any

_RIGHT = "__right_one__"


@contextlib.contextmanager
def standing_in(code: Any, caller: str, name: str, right: Callable[..., Any]) -> Iterator[Any]:
    """Give the code, in which `right` is called wherever its function `name` would be.

    A plain function gets another body for a while, so whoever refers to it, and however, calls
    the right one. What is no plain function is replaced by name: where `caller` looks it up, and
    in the module.
    """
    original = getattr(code, name, None)
    function = getattr(original, "__func__", original)
    if isinstance(function, types.FunctionType) and not function.__code__.co_freevars:
        wrong_body, namespace = function.__code__, function.__globals__
        is_method = function is not original
        namespace[_RIGHT] = (
            (lambda _, *args, **named: right(*args, **named)) if is_method else right
        )
        function.__code__ = _other_body.__code__
        try:
            yield code
        finally:
            function.__code__ = wrong_body
            namespace.pop(_RIGHT, None)
        return
    calling = getattr(code, caller, None)
    namespaces = [getattr(getattr(calling, "__func__", calling), "__globals__", {})]
    if isinstance(code, types.ModuleType):
        namespaces.append(vars(code))
    else:
        with contextlib.suppress(Exception):
            code = copy.copy(code)
            setattr(code, name, right)
    before = [{name: space[name]} if name in space else {} for space in namespaces]
    for namespace in namespaces:
        namespace[name] = right
    try:
        yield code
    finally:
        for namespace, found in zip(namespaces, before, strict=True):
            namespace.pop(name, None)
            namespace.update(found)


def _other_body(*arguments: Any, **named: Any) -> Any:
    return __right_one__(*arguments, **named)  # type: ignore[name-defined] # noqa: F821
