// The heatmap: filters and order of its rows, and the drawer that lists exactly the dialogues of a cell.

const MOST_LISTED = 30;

const drawer = { estimate: null, place: -1, title: "", shown: "all", at: -1 };

function heatRows() {
  return [...document.querySelectorAll("#heat tr[data-area]")];
}

/** Show the areas that the search and the chosen group let through. */
function filterHeat() {
  const wanted = byId("heat-search").value.trim().toLowerCase();
  const pressed = document.querySelector("[data-heat-group][aria-pressed='true']");
  const group = pressed ? pressed.dataset.heatGroup : "";
  for (const row of heatRows()) {
    row.hidden = !(row.dataset.area.toLowerCase().includes(wanted) && (!group || row.dataset.group === group));
  }
  const isOrdered = byId("heat-sort").value === "";
  for (const heading of document.querySelectorAll("#heat .group-row")) {
    let row = heading.nextElementSibling;
    while (row && row.hidden) row = row.nextElementSibling;
    heading.hidden = !isOrdered || !row || row.classList.contains("group-row");
  }
}

let studyOrder;

function sortHeat() {
  const body = document.querySelector("#heat tbody");
  studyOrder = studyOrder || [...body.children];
  const by = byId("heat-sort").value;
  const areas = studyOrder.filter((row) => row.dataset.area);
  const compare = by === "name" ? (a, b) => a.dataset.area.localeCompare(b.dataset.area) : (a, b) => b.dataset[by] - a.dataset[by];
  body.append(...(by ? [...studyOrder.filter((row) => !row.dataset.area), ...areas.sort(compare)] : studyOrder));
  filterHeat();
}

function pressGroup(button) {
  for (const other of document.querySelectorAll("[data-heat-group]")) other.setAttribute("aria-pressed", String(other === button));
  filterHeat();
}

/** Open the drawer for the cell of an estimate. */
function openCell(place, { push = true } = {}) {
  const estimate = data.estimates[place];
  const cell = document.querySelector(`[data-cell="${place}"]`);
  const title = `${cell.closest("tr").dataset.area}, ${estimate.subject.application}`;
  Object.assign(drawer, { estimate, place, title, shown: estimate.set ? "defect" : "all", at: -1 });
  for (const cell of document.querySelectorAll("[data-cell]")) {
    if (Number(cell.dataset.cell) === place) cell.setAttribute("aria-current", "true");
    else cell.removeAttribute("aria-current");
  }
  if (push) history.replaceState(null, "", `${location.pathname}${location.search}#cell/${place}`);
  drawDrawer();
  document.body.classList.add("with-drawer");
  byId("drawer").querySelector("h2").focus({ preventScroll: true });
}

function closeDrawer() {
  const panel = byId("drawer");
  if (!panel || panel.hidden) return false;
  panel.hidden = true;
  document.body.classList.remove("with-drawer");
  const cell = document.querySelector("[data-cell][aria-current]");
  if (cell) cell.focus({ preventScroll: true });
  for (const other of document.querySelectorAll("[data-cell][aria-current]")) other.removeAttribute("aria-current");
  history.replaceState(null, "", `${location.pathname}${location.search}#overview`);
  return true;
}

function drawerSets() {
  const defects = drawer.estimate.set ? setNamed(drawer.estimate.set) : { cases: [], n: 0 };
  const none = (data.sets[`rest${drawer.place}`] || { cases: [] }).cases;
  const all = [...defects.cases, ...none].sort((a, b) => a - b);
  return { all, defect: defects.cases, none, defects: new Set(defects.cases) };
}

function drawDrawer() {
  const { estimate } = drawer;
  const sets = drawerSets();
  const chip = (name, title) =>
    make("button", { type: "button", class: "chip", "aria-pressed": String(drawer.shown === name), onclick: () => showInDrawer(name) }, title, make("span", { class: "n", text: thousands(sets[name].length) }));
  const [main, ...rest] = estimate.text.split(", ");
  const close = make("button", { type: "button", class: "btn sm quiet-btn icon", "aria-label": "Close", onclick: closeDrawer }, icon("close"));
  const open = sets[drawer.shown].length
    ? make("button", { type: "button", class: "btn", text: `Open all ${thousands(sets[drawer.shown].length)} in Dialogues`, onclick: () => openAll(drawer.shown) })
    : null;
  const facts = make("button", { type: "button", class: "btn quiet-btn", text: "Method", onclick: () => explain(drawer.place) });
  byId("drawer").replaceChildren(
    make("div", { class: "drawer-head" },
      make("div", { class: "row" }, make("span", { class: "over", text: "Cell" }), close),
      make("h2", { text: drawer.title, tabindex: "-1" }),
      make("p", { class: "caption", text: estimate.subject_text }),
      make("p", { class: "big" }, main, make("span", { text: rest.join(", ") })),
      make("div", { class: "chips", role: "group", "aria-label": "Dialogues" }, chip("all", "All "), chip("defect", "Defect "), chip("none", "No defect ")),
    ),
    make("ul", { class: "drawer-list" }, ...sets[drawer.shown].slice(0, MOST_LISTED).map((place) => drawerItem(place, sets.defects.has(place)))),
    make("div", { class: "drawer-foot" }, open, facts, make("span", { class: "legend" }, make("kbd", { text: "j" }), " ", make("kbd", { text: "k" }))),
  );
  byId("drawer").hidden = false;
}

function showInDrawer(name) {
  drawer.shown = name;
  drawer.at = -1;
  drawDrawer();
}

function openAll(name) {
  const titles = { all: "labelled", defect: "defects", none: "no defect" };
  data.sets.drawer = { title: `${drawer.title}: ${titles[name]}`, cases: drawerSets()[name] };
  closeDrawer();
  showSet("drawer");
}

function drawerItem(place, isDefect) {
  const entry = cases[place];
  const strategies = (entry.strategies || []).map((one) => make("span", { class: "tag flat", text: one.title }));
  const label = make("span", { class: isDefect ? "tag solid" : "tag", text: isDefect ? "Defect" : "No defect" });
  const talk = make("dl", { class: "talk" });
  (entry.turns || []).slice(-2).forEach((turn, n, shown) => {
    const number = entry.turns.length - shown.length + n + 1;
    talk.append(make("dt", { text: "User" }), make("dd", { text: shortened(turn[0]) }), make("dt", { text: "App" }), make("dd", {}, ...marked(turn[1], entry, number)));
  });
  const words = entry.withheld ? make("p", { class: "legend", text: `Texts withheld: ${entry.withheld}` }) : talk;
  return make("li", {}, make("div", { class: "row" }, make("span", {}, make("b", { class: "mono", text: entry.label }), " ", ...strategies), label), words, make("button", { type: "button", class: "part", text: "Open dialogue", onclick: () => openFromDrawer(place) }));
}

function openFromDrawer(place) {
  location.hash = addressOf(place);
}

function shortened(text) {
  return text.length > 220 ? `${text.slice(0, 219)}…` : text;
}

/** Walk the dialogues of the drawer; false where it is closed. */
function stepInDrawer(by) {
  if (!byId("drawer") || byId("drawer").hidden) return false;
  const items = [...byId("drawer").querySelectorAll(".drawer-list li")];
  drawer.at = Math.max(0, Math.min(items.length - 1, drawer.at + by));
  items.forEach((item, n) => item.classList.toggle("current", n === drawer.at));
  if (items[drawer.at]) {
    items[drawer.at].scrollIntoView({ block: "nearest" });
    items[drawer.at].querySelector("button").focus({ preventScroll: true });
  }
  return true;
}

function followCell() {
  const place = Number(location.hash.slice("#cell/".length));
  showTab(byId("overview"));
  if (document.querySelector(`[data-cell="${place}"]`)) openCell(place, { push: false });
}
