"""What a property is: one law, one Hypothesis test, and what it says about itself."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from hypothesis import example, given
from hypothesis.strategies import SearchStrategy

from .capabilities import NOTHING_DECLARED, Capabilities
from .cases import Case
from .comparison import Broken
from .implementation import PARTS, Implementation
from .loading import LoadError
from .pair import Pair

Body = Callable[[Implementation, Case], None]
NO_OLD_VERSION = "name the old version it compares with: --against"


class Property(NamedTuple):
    """One law that an implementation must obey.

    `function` is the one it judges. `share` is the part of a profile's examples it runs: less
    than 1 for one whose cases cost more. `widens` names a property of the same law on easier
    inputs: where that one is broken, this one says nothing new. Where it `inherits`, a wrong
    value may be the fault of a function that `function` calls. A breach of an advisory property
    fails nothing. `needs` are what an implementation must declare, as `Capabilities.lacks` reads
    them. One that `compares` is of two versions: its body is given a `Pair`.
    """

    name: str
    subject: str
    function: str
    law: str
    catches: str
    body: Body
    strategy: SearchStrategy[Case]
    case_type: type[Case]
    examples: tuple[Case, ...]
    share: float
    widens: str
    inherits: bool
    advice: bool
    needs: tuple[str, ...]
    compares: bool = False

    @property
    def title(self) -> str:
        """The name as a sentence."""
        return self.name.replace("_", " ")

    @property
    def of_the_exercise(self) -> bool:
        """Whether an implementation that declares nothing has to obey it."""
        return not self.lacking(NOTHING_DECLARED)

    def lacking(self, declared: Capabilities) -> str:
        """Return what must be declared for this property to be checked, in words, or ""."""
        return declared.lacks(self.all_needs)

    def unmet(self, impl: Implementation) -> str:
        """Return why it cannot be checked of an implementation, in words, or ""."""
        if not self.compares:
            return self.lacking(impl.capabilities)
        return impl.unshared(self.all_needs) if isinstance(impl, Pair) else NO_OLD_VERSION

    def declared_by(self, impl: Implementation) -> Capabilities:
        """Return what its cases are fitted to: what is declared, by both where it compares."""
        return impl.common if self.compares and isinstance(impl, Pair) else impl.capabilities

    @property
    def all_needs(self) -> tuple[str, ...]:
        """The capability that its function is, and `needs`."""
        return tuple(dict.fromkeys((PARTS[self.function], *self.needs)))

    def breach(self, impl: Implementation, case: Case) -> Broken | None:
        """Return what a case shows to be broken, or None; without what only a debugger needs."""
        try:
            with np.errstate(all="ignore"):
                self.body(impl, case)
        except Broken as broken:
            # Its traceback would keep alive all that the code under test has returned.
            broken.__context__ = broken.__cause__ = None
            return broken.with_traceback(None)
        except LoadError as error:
            return Broken(str(error), "raised")
        return None


def property_of(
    function: str,
    case: SearchStrategy[Case],
    *,
    examples: tuple[Case, ...] = (),
    share: float = 1.0,
    widens: str = "",
    inherits: bool = True,
    advice: bool = False,
    needs: tuple[str, ...] = (),
    compares: bool = False,
) -> Callable[[Body], Callable[..., None]]:
    """Make a test the property of one function of the contract, for every `case`.

    This is `@given(case=...)`, and remembers what it was given: so the same property can be
    searched with any settings, with or without pytest. The test takes `impl` and an annotated
    `case`; line 1 of its docstring is the law, the paragraph after it says what it catches.
    """

    def decorate(body: Body) -> Callable[..., None]:
        law, _, rest = (inspect.getdoc(body) or "").partition("\n")
        _, _, catches = rest.partition("Catches " if "Catches " in rest else "\n")
        test = given(case=case)(body)
        for explicit in examples:
            test = example(case=explicit)(test)
        test.rope_kv_property = Property(  # type: ignore[attr-defined]
            name=body.__name__.removeprefix("test_"),
            subject=body.__module__.rpartition(".")[2].removeprefix("test_"),
            function=function,
            law=law,
            catches=" ".join(catches.split()),
            body=body,
            strategy=case,
            case_type=get_type_hints(body)["case"],
            examples=examples,
            share=share,
            widens=widens,
            inherits=inherits,
            advice=advice,
            needs=needs,
            compares=compares,
        )
        return test

    return decorate


def find_property(test: Any) -> Property | None:
    """Return the property that a test function was made from, or None."""
    found = getattr(test, "rope_kv_property", None)
    return found if isinstance(found, Property) else None


def properties_for(declared: Capabilities) -> tuple[Property, ...]:
    """Return the properties that an implementation is shown, in reading order.

    Where nothing is declared, that is the exercise alone; else also what is not checked.
    """
    asked = _of_the_exercise() if declared == NOTHING_DECLARED else all_properties()
    return _concerned(asked, declared)


def properties_of(impl: Implementation, laws: str = "all") -> tuple[Property, ...]:
    """Return the properties that an implementation is shown; of a pair, those that compare too.

    `laws` is "all", or "none" for the ones that compare alone.
    """
    shown = properties_for(impl.capabilities) if laws == "all" else ()
    if isinstance(impl, Pair):
        either = {
            prop.name
            for one in (impl.new, impl.old)
            for prop in _concerned(comparing_properties(), one.capabilities)
        }
        shown += tuple(prop for prop in comparing_properties() if prop.name in either)
    return shown


def _concerned(properties: tuple[Property, ...], declared: Capabilities) -> tuple[Property, ...]:
    """Return those of some properties that have anything to say of what is declared."""
    return tuple(
        prop
        for prop in properties
        if declared.is_concerned(prop.needs)
        and (declared != NOTHING_DECLARED or prop.of_the_exercise)
    )


@functools.cache
def all_properties() -> tuple[Property, ...]:
    """Return every property of one implementation, in reading order."""
    return _in(importlib.import_module("rope_kv.properties").SUBJECTS)


@functools.cache
def _of_the_exercise() -> tuple[Property, ...]:
    """Return the properties of the exercise, without importing others: they take longer."""
    return _in(importlib.import_module("rope_kv.properties").EXERCISE)


@functools.cache
def comparing_properties() -> tuple[Property, ...]:
    """Return every property that compares two versions, in reading order."""
    return _in(importlib.import_module("rope_kv.properties").COMPARING)


def _in(subjects: tuple[str, ...]) -> tuple[Property, ...]:
    return tuple(
        found
        for name in subjects
        for test in vars(importlib.import_module(f"rope_kv.properties.test_{name}")).values()
        if (found := find_property(test)) is not None
    )
