"""Broken properties in the HTML report: the law, the smallest case, both answers, pictures."""

from __future__ import annotations

from ..testing.scene import MOST_SCENES
from ..testing.shown import Shown
from ..testing.verdict import Result
from . import drawing, pictures, sentences, tables
from .drawing import Picture
from .markup import Markup, element

# Characters of all drawings: a page of more is slow to load, and nobody looks at so many.
MOST_DRAWN = 400_000


class Breaches:
    """The broken properties of one report; `mark` begins each id, so that none comes twice.

    `notes` says what is missing, once all have been asked for.
    """

    def __init__(self, found: Shown, spec: str, mark: str) -> None:
        self._found = found
        self._spec = spec
        self._mark = mark
        self._seen: dict[Picture, str] = {}
        self._drawn = 0
        self._is_cut = False
        self._scenes = sum(result.scene is not None for result in found.in_full)
        # To import what draws takes longer than all the rest of a report.
        self._can_draw = self._scenes > 0 and drawing.can_draw()

    def in_full(self) -> list[Markup]:
        """Return the properties that say something new."""
        return [self._breach(n, result) for n, result in enumerate(self._found.in_full)]

    def by_title(self) -> list[Markup]:
        """Return the titles of the others, by why they say nothing new."""
        parts = []
        for reason, results in self._found.by_title.items():
            titles = [element("li", _title(result)) for result in results]
            parts.append(element("h3", reason.rstrip(":").capitalize()))
            parts.append(element("ul", *titles))
        return parts

    @property
    def notes(self) -> list[str]:
        """Why there are no pictures, or not of all."""
        if not self._scenes:
            return ["This report was made without pictures: check(..., pictures=True) has them."]
        if not self._can_draw:
            return [f"Pictures are drawn where matplotlib is installed: {drawing.INSTALL}"]
        if self._is_cut or self._scenes < len(self._found.in_full):
            return [f"Pictures are of the first ones alone, {MOST_SCENES} at most of a function."]
        return []

    def _breach(self, number: int, result: Result) -> Markup:
        prop, broken = result.property, result.broken
        parts = [element("h3", _title(result))]
        if broken is not None and broken.kind == "missing":
            return element("article", *parts, element("p", broken.sentence))
        told: list[tuple[str, str]] = [("law", element("code", prop.law))]
        if result.counterexample is not None:
            told.append(("smallest case", element("code", str(result.counterexample))))
        found = result.message if broken is None else broken.sentence
        if found:
            told.append(("found", found))
        parts.append(tables.terms(told))
        if broken is not None:
            parts.append(tables.both(broken))
        parts += self._pictures(number, result)
        parts.append(tables.terms(self._after(result)))
        return element("article", *parts)

    def _after(self, result: Result) -> list[tuple[str, str]]:
        """Return what is said below the numbers."""
        broken, told = result.broken, []
        if broken is not None and broken.at is not None and broken.yours is not None:
            told.append(("differs", sentences.where(broken.at, broken.ratio_at)))
        if worst := sentences.worst_case(result):
            told.append(("worst", worst))
        told.append(("advice" if result.property.advice else "catches", result.property.catches))
        if note := sentences.when(result):
            told.append(("note", note))
        if command := sentences.replay_command(result, self._spec):
            told.append(("replay", tables.scrolling(element("code", command), "the command")))
        return told

    def _pictures(self, number: int, result: Result) -> list[Markup]:
        """Return the pictures of a result; those that were there before are linked to."""
        if not self._can_draw or result.scene is None:
            return []
        if self._drawn > MOST_DRAWN:
            self._is_cut = True
            return []
        figures = []
        for place, picture in enumerate(pictures.of(result, f"{self._mark}-{number}")):
            same = Picture(picture.title, picture.caption, "")
            if (known := self._seen.get(same)) is not None:
                link = element("a", f"{picture.title}: as above", href=f"#{known}")
                figures.append(element("p", link))
                continue
            name = self._seen[same] = f"{self._mark}-{number}-{place}"
            self._drawn += len(picture.svg)
            figures.append(_figure(picture, name))
        return [element("div", *figures, class_="pictures")] if figures else []


def _figure(picture: Picture, name: str) -> Markup:
    """Return a drawing with its caption, which describes it to who cannot see it."""
    title = element("h4", picture.title, id=f"{name}-title")
    caption = element("figcaption", picture.caption, id=f"{name}-caption")
    role = f'<svg role="img" aria-labelledby="{name}-title" aria-describedby="{name}-caption" '
    return element(
        "figure", title, Markup(picture.svg.replace("<svg ", role, 1)), caption, id=name
    )


def _title(result: Result) -> str:
    advice = " (advice)" if result.property.advice else ""
    return f"{result.property.function} · {result.property.title}{advice}"
