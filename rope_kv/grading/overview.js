// Sorts and filters the table of the students. It is written without the letters that would have
// to be escaped in XML, so that the page is well-formed as XML too.
(() => {
  const table = document.querySelector("table.students");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const keyOf = (cell, isNumber) => {
    const said = cell.dataset.value ?? cell.textContent.trim();
    if (said === "") return null;
    return isNumber ? Number(said) : said;
  };

  const sortBy = (column) => {
    const heading = headings[column];
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of headings) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const isNumber = heading.dataset.kind === "number";
    const keyed = rows.map((row) => [keyOf(row.cells[column], isNumber), row]);
    keyed.sort(([a], [b]) => {
      // What is empty comes last, whichever way the others are sorted.
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      const order = isNumber ? a - b : collator.compare(a, b);
      return down ? -order : order;
    });
    body.append(...keyed.map(([, row]) => row));
  };

  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(column));
    heading.append(button);
  });
  table.classList.add("sortable");

  const find = document.getElementById("find");
  const verdict = document.getElementById("verdict");
  const shown = document.getElementById("shown");
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = () => {
    const said = find.value.trim().toLowerCase();
    for (const row of rows) {
      const isVerdict = verdict.value === "" || verdict.value === row.dataset.verdict;
      row.hidden = !(isVerdict ? words.get(row).includes(said) : false);
    }
    const left = rows.filter((row) => !row.hidden).length;
    shown.textContent = `${left} of ${rows.length} shown`;
  };
  find.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  document.querySelector(".filter").hidden = false;
  // A browser that goes back keeps what was typed.
  filter();
})();
