"""One mutant, tried: the stored counterexamples and the properties, until one of them breaks.

A mutant is in the memory of the process that tries it, and nowhere else: no file is changed. That
process is a fork of one that has imported everything, and exchanges the code of the functions; or,
where more than a function is changed, imports everything again.
"""

import ast
import importlib
import importlib.abc
import importlib.util
import inspect
import pkgutil
import resource
import sys
import time
import types
from collections import Counter

from mutants import functions_of, limit_memory

# The reference in each of its layouts: the oracle defines them all.
REFERENCE = "rope_kv"
LAYOUTS = ("rope_kv.layouts:half", "rope_kv.layouts:interleaved_to_half")
# What was called of the modules that `noting_calls` has changed.
CALLED = set()


class Sources(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds some modules, whose sources are given."""

    def __init__(self, sources):
        self._sources = sources

    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name in self._sources else None

    def get_source(self, name):
        return self._sources[name]


def survey(sources):
    """Import everything, and return the seconds of each stage, what each of its cases or
    properties calls of some modules, what importing calls, and what broke, or "".
    """
    _import_afresh({name: noting_calls(name, source) for name, source in sources.items()})
    importing, seconds, called, broken = frozenset(CALLED), {}, {}, ""
    for stage in STAGES:
        started = time.process_time()
        CALLED.clear()
        for tried, breach in stage(None):
            broken = broken or breach
            called.setdefault(tried, set()).update(CALLED)
            CALLED.clear()
        seconds[stage.__name__] = time.process_time() - started
    return seconds, called, importing, broken


def attempt(module, source, limits, concerned):
    """Return what breaks where a module has another source, or "".

    `limits` are the seconds that each stage may take, and `concerned` the stored cases, and the
    pairs of an implementation and a property, that call what is changed; all where it is None.
    """
    limit_memory()
    try:
        if concerned is None:
            _import_afresh({module: source})
        else:
            exchange_code(sys.modules[module], source)
        for stage in STAGES:
            _limit(limits[stage.__name__])
            if broken := next((broken for _, broken in stage(concerned) if broken), ""):
                return broken
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def noting_calls(module, source):
    """Return a source whose functions note in CALLED that they were called."""
    tree = ast.parse(source)
    for name, node in functions_of(tree):
        noting = f"__import__({__name__!r}).CALLED.add(({module!r}, {name!r}))"
        node.body.insert(1 if ast.get_docstring(node) else 0, ast.parse(noting).body[0])
        # What is remembered is not called again.
        node.decorator_list = [at for at in node.decorator_list if "cache" not in ast.unparse(at)]
    return ast.unparse(tree)


def exchange_code(module, source):
    """Give the functions of a module the code and the defaults that they have in a source."""
    other = types.ModuleType(module.__name__)
    other.__package__ = module.__package__
    exec(compile(source, f"<{module.__name__}>", "exec"), vars(other))
    _exchange(vars(module), vars(other), module.__name__)


def _exchange(names, others, home):
    for name in names:
        value, other = _function_in(names[name]), _function_in(others.get(name))
        if getattr(value, "__module__", None) != home:
            continue
        if inspect.isclass(value):
            _exchange(vars(value), vars(other), home)
        elif inspect.isfunction(value):
            value.__code__ = other.__code__
            value.__defaults__, value.__kwdefaults__ = other.__defaults__, other.__kwdefaults__


def _function_in(value):
    """Return what a property, a static method or a cache is made of; else the value itself."""
    for inside in ("fget", "__func__", "__wrapped__"):
        value = getattr(value, inside, value)
    return value


def _import_afresh(sources):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rope_kv"]:
        del sys.modules[name]
    sys.meta_path.insert(0, Sources(sources))
    from rope_kv.testing.property import all_properties

    all_properties()
    for spec in (REFERENCE, *LAYOUTS):
        _implementation(spec)


def _limit(seconds):
    """End this process once it has computed so long from now on."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, most))


def stored(concerned):
    """Replay the counterexamples in regressions/."""
    from rope_kv.testing import counterexample
    from rope_kv.testing.search import replay

    impl = _implementation(REFERENCE)
    for path in _one_of_each_first(counterexample.files_in([counterexample.brought_along()])):
        if concerned is not None and path.name not in concerned:
            continue
        case = counterexample.load(path)
        result = replay(case.property, impl, case.case)
        yield path.name, _broken(result, f"regressions/{path.name}")


def _one_of_each_first(paths):
    """Return stored cases in another order: two of one property see mostly the same mistakes."""
    seen = Counter()
    ranks = {}
    for path in paths:
        name = path.stem.rpartition("-")[0]
        ranks[path], seen[name] = seen[name], seen[name] + 1
    return sorted(paths, key=lambda path: (ranks[path], path))


def direct(concerned):
    """Run the tests in properties/ and regressions/ that need no implementation."""
    from rope_kv import properties, regressions
    from rope_kv.testing.property import find_property

    for package in (properties, regressions):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for name, test in vars(module).items():
                is_test = name.startswith("test_") and inspect.isfunction(test)
                if not is_test or find_property(test) or inspect.signature(test).parameters:
                    continue
                if concerned is None or name in concerned:
                    yield name, _raised(test)


def _raised(test):
    try:
        test()
    except BaseException as error:  # pytest.fail raises no Exception.
        return f"{test.__name__}: {type(error).__name__}: {error}"
    return ""


def few_cases(concerned):
    """Search the properties, with few cases each."""
    yield from _searched(REFERENCE, 5, concerned)


def layouts(concerned):
    """Search the properties of the reference in other layouts, with few cases each."""
    for spec in LAYOUTS:
        yield from _searched(spec, 5, concerned)


def usual_cases(concerned):
    """Search the properties, with the cases of the profile `grade`."""
    yield from _searched(REFERENCE, None, concerned)


STAGES = (stored, direct, few_cases, layouts, usual_cases)


def _implementation(spec):
    from rope_kv.testing.loading import load

    return load(spec)


def _searched(spec, examples, concerned):
    from rope_kv.testing.profiles import PROFILES, leaving_no_files
    from rope_kv.testing.property import properties_of
    from rope_kv.testing.search import search

    impl, grade = _implementation(spec), PROFILES["grade"]
    # One breach is enough: nothing is made smaller.
    profile = grade._replace(examples=examples or grade.examples, attempts=0)
    with leaving_no_files():
        for prop in properties_of(impl):
            if concerned is None or (spec, prop.name) in concerned:
                result = search(prop, impl, profile, excusing=False)
                yield (spec, prop.name), _broken(result, f"{prop.title} ({spec})")


def _broken(result, name):
    """Return what a result shows to be broken, or "": what was not checked fails no test."""
    # Nor does advice.
    is_broken = result.outcome in ("broken", "error") and not result.property.advice
    return f"{name}: {result.message}" if is_broken else ""
