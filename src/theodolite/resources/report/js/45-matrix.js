// The matrix: prompts by applications, the answers side by side with their labels.

const ROWS_AT_ONCE = 40;
const MOST_WORDS = 320;
const FIRST_COLUMN = window.innerWidth < 700 ? 130 : 230;
const LEAST_COLUMN = 185;

const matrix = { rows: [], found: [], drawn: 0, filter: "", current: -1, hidden: new Set(), order: [...data.applications], sortBy: "", withDifferences: false };

const MATRIX_FILTERS = [["", "All"], ["defect", "Defects"], ["disagreement", "Disagreements"], ["flipped", "Changed"], ["failed", "Failed"], ["unparseable", "Unparseable"]];

const membersOf = (name) => new Set((data.sets[name] || { cases: [] }).cases);
let members;

function startMatrix() {
  if (!byId("matrix-view") || matrix.rows.length) return;
  members = Object.fromEntries(MATRIX_FILTERS.filter(([name]) => name).map(([name]) => [name, membersOf(name)]));
  matrix.rows = groupsByPair().filter(Boolean);
  drawMatrixTools();
  fillMatrix();
}

function drawMatrixTools() {
  const counts = (name) => (name ? matrix.rows.filter((row) => row.some((place) => members[name].has(place))).length : matrix.rows.length);
  const chips = MATRIX_FILTERS.map(([name, title]) => {
    const chip = make("button", { type: "button", class: "chip", "aria-pressed": String(name === ""), "data-filter": name || "all", onclick: () => filterMatrix(name) }, `${title} `, make("span", { class: "n", text: thousands(counts(name)) }));
    return chip;
  });
  byId("matrix-chips").replaceChildren(...chips);
  byId("matrix-search").addEventListener("input", fillMatrix);
  byId("matrix-differences").addEventListener("click", switchDifferences);
  byId("matrix-columns").addEventListener("click", () => {
    matrix.hidden.clear();
    fillMatrix();
  });
}

function filterMatrix(name) {
  matrix.filter = name;
  for (const chip of byId("matrix-chips").children) chip.setAttribute("aria-pressed", String(chip.dataset.filter === (name || "all")));
  fillMatrix();
}

function switchDifferences() {
  matrix.withDifferences = !matrix.withDifferences;
  byId("matrix-differences").setAttribute("aria-pressed", String(matrix.withDifferences));
  fillMatrix();
}

function columnsOfMatrix() {
  return matrix.order.filter((name) => !matrix.hidden.has(name));
}

/** Draw the head and the rows that the filter and the search let through. */
function fillMatrix() {
  const wanted = byId("matrix-search").value.trim().toLowerCase();
  const passes = (row) => (!matrix.filter || row.some((place) => members[matrix.filter].has(place))) && (!wanted || row.some((place) => haystack(cases[place]).includes(wanted)));
  matrix.found = matrix.rows.filter(passes);
  if (matrix.sortBy) {
    const isDefect = (row) => row.some((place) => cases[place].application === matrix.sortBy && members.defect.has(place));
    matrix.found = [...matrix.found.filter(isDefect), ...matrix.found.filter((row) => !isDefect(row))];
  }
  Object.assign(matrix, { drawn: 0, current: -1 });
  const head = make("tr", {}, make("th", { scope: "col", class: "prompt-head" }, "Prompt", make("span", { class: "caption", text: `${thousands(matrix.found.length)} of ${thousands(matrix.rows.length)}` })), ...columnsOfMatrix().map(matrixHead));
  byId("matrix-table").tHead.replaceChildren(head);
  byId("matrix-table").style.minWidth = `${FIRST_COLUMN + columnsOfMatrix().length * LEAST_COLUMN}px`;
  byId("matrix-table").tBodies[0].replaceChildren();
  byId("matrix-columns").hidden = !matrix.hidden.size;
  byId("matrix-found").textContent = `${thousands(matrix.found.length)} of ${thousands(matrix.rows.length)} prompts`;
  drawMatrixRows();
}

function matrixHead(name) {
  const places = matrix.found.flat().filter((place) => cases[place].application === name);
  const bad = places.filter((place) => members.defect.has(place)).length;
  const act = (label, picture, onclick, pressed) => make("button", { type: "button", class: "btn sm quiet-btn icon", "aria-label": `${label} ${name}`, title: label, "aria-pressed": pressed === undefined ? "" : String(pressed), onclick }, icon(picture));
  const sort = act("Defects first:", "sort", () => {
    matrix.sortBy = matrix.sortBy === name ? "" : name;
    fillMatrix();
  }, matrix.sortBy === name);
  const pin = act("Pin first:", "pin", () => {
    matrix.order = [name, ...matrix.order.filter((other) => other !== name)];
    fillMatrix();
  });
  const hide = act("Hide", "close", () => {
    if (columnsOfMatrix().length > 1) matrix.hidden.add(name);
    fillMatrix();
  });
  const title = make("span", { class: "app" }, markerOf(name), make("span", { text: name }));
  const counted = make("span", { class: "caption", text: `${thousands(bad)} with a defect, of ${thousands(places.length)}` });
  return make("th", { scope: "col" }, title, make("div", { class: "column-head" }, counted, make("span", { class: "column-acts" }, sort, pin, hide)));
}

function drawMatrixRows() {
  const piece = matrix.found.slice(matrix.drawn, matrix.drawn + ROWS_AT_ONCE);
  byId("matrix-table").tBodies[0].append(...piece.map(matrixRow));
  matrix.drawn += piece.length;
  byId("matrix-more").hidden = matrix.drawn >= matrix.found.length;
}

function matrixRow(row) {
  const [first] = row.map((place) => cases[place]);
  const shown = columnsOfMatrix().map((name) => row.find((place) => cases[place].application === name));
  const labels = new Set(row.map((place) => mainLabel(cases[place])).filter(Boolean));
  const short = first.label.includes("/") ? first.label.split("/").pop() : first.label;
  const groups = [...new Set(Object.values(first.groups))].slice(0, 2).map((value) => make("span", { class: "tag flat sq", text: value.replaceAll("_", " ") }));
  const about = labels.size > 1 ? make("p", { class: "caption", text: `${labels.size} different labels` }) : null;
  const head = make("th", { scope: "row" }, make("p", { class: "prompt", text: excerptOf(first).text }), make("p", { class: "row-tags" }, make("span", { class: "tag flat sq mono", text: short }), ...groups), about);
  const [base] = shown;
  return make("tr", {}, head, ...shown.map((place) => matrixCell(place, base)));
}

function matrixCell(place, base) {
  if (place === undefined) return make("td", {}, make("span", { class: "undefined", text: "not planned" }));
  const entry = cases[place];
  const link = make("a", { class: "answer-text", href: addressOf(place) }, ...answerPieces(entry, place === base ? undefined : cases[base]));
  return make("td", {}, link, make("div", { class: "row-tags" }, ...labelTags(place)));
}

function answerPieces(entry, base) {
  if (entry.withheld) return [make("span", { class: "undefined", text: `Withheld: ${entry.withheld}` })];
  const [failure] = entry.failures || [];
  if (!entry.turns || !entry.turns.length) return [make("span", { class: "undefined", text: failure ? `Failed: ${failure.party} ${failure.kind}` : "not run yet" })];
  const turn = tellingTurn(entry);
  const text = entry.turns[turn - 1][1];
  if (matrix.withDifferences && base && base.turns && base.turns.length) return differences(base.turns[base.turns.length - 1][1], text);
  const before = entry.turns.length > 1 ? [make("span", { class: "caption", text: `Turn ${turn} of ${entry.turns.length}  ` })] : [];
  return [...before, ...marked(text, entry, turn)];
}

/** Return the number of the first turn with a verified quote, else of the last turn. */
function tellingTurn(entry) {
  const turns = entry.annotations.flatMap((annotation) => annotation.answers.flatMap((answer) => (answer.quotes || []).filter(([turn, , verified]) => verified && turn > 0).map(([turn]) => turn)));
  return Math.min(entry.turns.length, ...turns);
}

const valueOf = (annotation) => (annotation.answers.length ? annotation.answers[0].value || annotation.answers[0].outcome : "");
const isPerson = (annotation) => (annotatorOf.get(annotation.by) || {}).kind === "person";

/** Return the label that a dialogue goes by: the final one, else that of people, else that of the first annotator. */
function mainLabel(entry) {
  if (entry.final) return entry.final;
  const [first] = [...entry.annotations.filter(isPerson), ...entry.annotations];
  return first ? valueOf(first) : "";
}

function labelTags(place) {
  const entry = cases[place];
  const main = mainLabel(entry);
  if (!main) return [];
  const isDefect = members.defect.has(place);
  const people = [...new Set(entry.annotations.filter(isPerson).map(valueOf))];
  const judges = [...new Set(entry.annotations.filter((annotation) => !isPerson(annotation) && valueOf(annotation) !== main).map((annotation) => `${titleOf(annotation.by)}: ${valueOf(annotation)}`))];
  const tags = [make("span", { class: isDefect ? "tag solid sq" : "tag sq", text: isDefect ? `${main}, defect` : main })];
  if (people.length > 1) tags.push(make("span", { class: "tag acc sq", title: "people differ" }, icon("people"), people.join(" / ")));
  return [...tags, ...judges.slice(0, 2).map((text) => make("span", { class: "tag dash sq", title: "differs from that label" }, icon("judge"), text))];
}

/** Return a text with the words marked that the other text does not have in the same order. */
function differences(before, after) {
  const [a, b] = [before, after].map((text) => text.split(/(\s+)/).filter((word) => word.trim()).slice(0, MOST_WORDS));
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const pieces = [];
  let i = 0;
  for (let j = 0; j < b.length; j += 1) {
    while (i < a.length && a[i] !== b[j] && longest[i + 1][j] >= longest[i][j + 1]) i += 1;
    const isSame = i < a.length && a[i] === b[j];
    if (isSame) i += 1;
    pieces.push(isSame ? `${b[j]} ` : make("ins", { text: `${b[j]} ` }));
  }
  return pieces;
}

/** Go to the next or previous row; false outside the matrix. */
function stepInMatrix(by) {
  if (document.body.dataset.tab !== "matrix") return false;
  matrix.current = Math.max(0, Math.min(matrix.found.length - 1, matrix.current + by));
  while (matrix.drawn <= matrix.current && matrix.drawn < matrix.found.length) drawMatrixRows();
  const rows = [...byId("matrix-table").tBodies[0].rows];
  rows.forEach((row, n) => row.classList.toggle("current", n === matrix.current));
  const link = rows[matrix.current] && rows[matrix.current].querySelector("a");
  if (link) {
    rows[matrix.current].scrollIntoView({ block: "nearest" });
    link.focus({ preventScroll: true });
  }
  return true;
}
