"""The page of the power table opens in a real browser, at any width, without a complaint."""

import pytest
from browser import measured

from rope_kv.power.table import stored
from rope_kv.reports.power_page import page


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("power") / "power.html"
    path.write_text(page(stored()), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [320, 760, 1400])
def test_the_power_table_fits_into_any_width(table, width):
    told, complaints = measured(
        table,
        """rows: inside.querySelectorAll("svg path").length,
        traps: inside.querySelectorAll("details").length,
        outside: [...inside.querySelectorAll("main *")].filter((one) =>
          !one.closest(".scroll") && box(one).right > root.clientWidth + 1).length,""",
        width,
    )
    assert complaints == []
    assert told["content"] <= told["wide"] <= width
    assert told["outside"] == 0
    assert told["rows"] == len(stored().properties)
    assert told["traps"] == len(stored().traps)
