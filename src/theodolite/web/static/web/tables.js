// Data tables: each column sorts, long tables have a filter, and a column of checkboxes selects all.
// Without scripts the rows stand in the order of the server.

const FEWEST_ROWS = 3;
const FEWEST_TO_FILTER = 10;
const status = document.getElementById("status");

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = (cell?.dataset.sort ?? cell?.textContent ?? "").trim();
  const number = Number.parseFloat(text.replace(/^[$\u2212-]/, ""));
  return { text, number: /^[$\u2212-]?\d/.test(text) ? number : Number.NaN };
}

function compare(first, second) {
  const numbers = !Number.isNaN(first.number) && !Number.isNaN(second.number);
  if (numbers && first.number !== second.number) return first.number - second.number;
  return first.text.localeCompare(second.text, undefined, { numeric: true });
}

function sortBy(table, column, head) {
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) {
    if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
  }
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, column) }));
  rows.sort((first, second) => (descending ? -1 : 1) * compare(first.value, second.value));
  body.append(...rows.map((one) => one.row));
}

function addSorting(table) {
  for (const head of table.tHead.rows[0].cells) {
    const column = head.cellIndex;
    const hasWords = [...table.tBodies[0].rows].some((row) => valueOf(row, column).text !== "");
    if (!hasWords || !head.textContent.trim() || head.hasAttribute("data-unsorted")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, column, head));
    head.append(button);
    head.setAttribute("aria-sort", "none");
  }
}

function addFilter(table) {
  const holder = table.closest(".scroller");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const name = holder?.getAttribute("aria-label") ?? "rows";
  input.type = "search";
  input.placeholder = "Filter";
  label.className = "table-filter";
  input.setAttribute("aria-label", `Filter: ${name}`);
  label.append(input);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLocaleLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLocaleLowerCase().includes(wanted);
      if (!row.hidden) shown += 1;
    }
    status.textContent = wanted ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
  });
  holder?.before(label);
}

function addSelectAll(table) {
  const boxes = [...table.tBodies[0].querySelectorAll('input[type="checkbox"]')];
  const head = table.tHead.rows[0].cells[0];
  if (!boxes.length || !boxes.every((box) => box.closest("td, th").cellIndex === 0)) return;
  const all = document.createElement("input");
  const count = boxes[0].form?.querySelector("[data-selected]");
  all.type = "checkbox";
  all.setAttribute("aria-label", "Select all");
  head.replaceChildren(all);
  const visible = () => boxes.filter((box) => !box.closest("tr").hidden);
  const show = () => {
    const n = boxes.filter((box) => box.checked).length;
    all.checked = n > 0 && visible().every((box) => box.checked);
    all.indeterminate = n > 0 && !all.checked;
    if (count) count.textContent = n ? `${n} selected` : "";
  };
  all.addEventListener("change", () => {
    for (const box of visible()) box.checked = all.checked;
    show();
  });
  for (const box of boxes) box.addEventListener("change", show);
  show();
}

for (const table of document.querySelectorAll("table.data")) {
  if (!table.tHead || !table.tBodies.length) continue;
  addSelectAll(table);
  if (table.tBodies[0].rows.length >= FEWEST_ROWS && !table.hasAttribute("data-unsorted")) addSorting(table);
  if (table.tBodies[0].rows.length >= FEWEST_TO_FILTER && !table.hasAttribute("data-unfiltered")) addFilter(table);
}
