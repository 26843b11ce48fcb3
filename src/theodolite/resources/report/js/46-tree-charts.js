// Zoomable charts of measurement trees: an icicle drawn here, a sunburst drawn by the chart library.

const SVG = "http://www.w3.org/2000/svg";
const ICICLE = { width: 1000, row: 54, gap: 3, letter: 6.9, digit: 9 };

/** Return a new SVG element with attributes. */
function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

/** Return a title that fits a width; empty if nothing readable fits. */
function fitting(title, room) {
  const letters = Math.floor(room / ICICLE.letter);
  if (letters >= title.length) return title;
  return letters >= 5 ? `${title.slice(0, letters - 1).trimEnd()}…` : "";
}

/** One chart: cells, the cell that fills the width, and the chosen cell. */
function treeChart(box) {
  const cells = JSON.parse(box.querySelector(".chart-data").textContent);
  const chart = { box, cells, zoomed: 0, chosen: 0, form: "icicle", svg: box.querySelector(".icicle"), groups: [] };
  chart.children = cells.map((cell) => cells.filter((other) => other.parent === cell.key));
  chart.groups = [...chart.svg.querySelectorAll("g.cell")];
  chart.svg.setAttribute("role", "group");
  for (const group of chart.groups) {
    const cell = cells[Number(group.dataset.key)];
    if (!cell.name) continue;
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "0");
    group.setAttribute("aria-label", cell.label);
    group.addEventListener("click", () => choose(chart, cell));
    group.addEventListener("keydown", (event) => onCellKey(chart, cell, event));
  }
  box.querySelector("[data-zoom-out]").addEventListener("click", () => zoomOut(chart));
  for (const button of box.querySelectorAll("[data-form]")) {
    button.addEventListener("click", () => changeForm(chart, button.dataset.form));
  }
  document.addEventListener("themechange", () => { if (chart.form === "sunburst") drawSunburst(chart); });
  show(chart);
  return chart;
}

function onCellKey(chart, cell, event) {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    event.stopPropagation();
    choose(chart, cell);
  }
  const near = { ArrowUp: cell.parent, ArrowDown: chart.children[cell.key][0]?.key, ArrowLeft: beside(chart, cell, -1), ArrowRight: beside(chart, cell, 1) }[event.key];
  if (near !== undefined && near >= 0) {
    event.preventDefault();
    chart.groups[near].focus();
  }
}

function beside(chart, cell, by) {
  const row = cell.parent < 0 ? [cell] : chart.children[cell.parent].filter((other) => other.name);
  return row[row.indexOf(cell) + by]?.key;
}

/** Choose a cell; one with cells below fills the width. */
function choose(chart, cell) {
  chart.chosen = cell.key;
  chart.zoomed = chart.children[cell.key].length ? cell.key : Math.max(cell.parent, 0);
  show(chart);
}

function zoomOut(chart) {
  choose(chart, chart.cells[Math.max(chart.cells[chart.zoomed].parent, 0)]);
}

function show(chart) {
  layOut(chart);
  crumbs(chart);
  card(chart);
  chart.box.querySelector("[data-zoom-out]").disabled = chart.zoomed === 0;
  if (chart.form === "sunburst") drawSunburst(chart);
}

function isAbove(chart, cell, other) {
  for (let at = other.parent; at >= 0; at = chart.cells[at].parent) if (at === cell.key) return true;
  return false;
}

/** Place each cell so that the zoomed one fills the width; cells beside it leave the drawing. */
function layOut(chart) {
  const focus = chart.cells[chart.zoomed];
  const span = focus.right - focus.left;
  for (const group of chart.groups) {
    const cell = chart.cells[Number(group.dataset.key)];
    const above = isAbove(chart, cell, focus);
    const left = above ? 0 : (cell.left - focus.left) / span;
    const right = above ? 1 : (cell.right - focus.left) / span;
    const shown = above || (left > -1e-6 && right < 1 + 1e-6 && (cell.depth > focus.depth || cell === focus));
    group.toggleAttribute("hidden", !shown);
    group.setAttribute("display", shown ? "inline" : "none");
    group.classList.toggle("is-chosen", cell.key === chart.chosen);
    if (shown) drawCell(group, cell, left * ICICLE.width + ICICLE.gap / 2, Math.max((right - left) * ICICLE.width - ICICLE.gap, 1));
  }
}

function drawCell(group, cell, x, width) {
  const y = cell.depth * ICICLE.row;
  const rect = group.querySelector("rect");
  rect.setAttribute("x", x.toFixed(1));
  rect.setAttribute("width", width.toFixed(1));
  for (const text of group.querySelectorAll("text")) text.remove();
  const wide = width > 116;
  const title = fitting(cell.title, width - (wide ? ICICLE.digit * cell.value.length + 28 : 12));
  if (title) group.append(draw("text", { class: "name", x: x + 8, y: y + 20 }, title));
  if (cell.value && width > 26) group.append(draw("text", wide ? { class: "value", x: x + width - 8, y: y + 21, "text-anchor": "end" } : { class: "value", x: x + 8, y: y + 40 }, cell.value));
  if ((wide || !cell.value) && width > 58) group.append(draw("text", { class: "n", x: x + 8, y: y + 39 }, cell.name ? `n ${thousands(cell.n)}` : "no data"));
}

function pathTo(chart, key) {
  const path = [];
  for (let at = key; at >= 0; at = chart.cells[at].parent) path.unshift(chart.cells[at]);
  return path;
}

function crumbs(chart) {
  const path = pathTo(chart, chart.chosen);
  const parts = path.flatMap((cell, index) => {
    const last = index === path.length - 1;
    const part = last ? make("span", { "aria-current": "true", text: cell.title }) : make("button", { type: "button", text: cell.title, onclick: () => choose(chart, cell) });
    return index ? [make("span", { "aria-hidden": "true", text: "›" }), part] : [part];
  });
  chart.box.querySelector(".crumbs").replaceChildren(...parts);
}

/** Show the chosen node: value, counts, contexts, children on one scale, and single answers. */
function card(chart) {
  const cell = chart.cells[chart.chosen];
  const head = make("div", { class: "card-head" }, make("h5", { text: cell.name }));
  if (cell.opens) head.append(make("button", { type: "button", class: "btn sm", "data-set": cell.opens, text: `Open ${thousands(cell.n)} dialogue${cell.n === 1 ? "" : "s"}` }));
  if (cell.opens_raised) head.append(make("button", { type: "button", class: "btn sm", "data-set": cell.opens_raised, text: cell.raised }));
  const interval = cell.low === null || cell.low === undefined ? (cell.value ? "no interval" : "no single value: its children stand side by side") : `${Math.round(100 * cell.confidence)}% interval ${cell.low.toFixed(2)} to ${cell.high.toFixed(2)}`;
  const left = make("div", {}, make("p", { class: "big", text: cell.value || "–" }), make("p", { class: "under", text: interval }), definitions(cell.facts));
  const right = make("div", {});
  const below = chart.children[cell.key].filter((child) => child.at !== undefined);
  if (below.length) right.append(make("h6", { text: "Children, with 95% intervals" }), childPlot(below, chart.box.clientWidth < 560));
  if (cell.contexts.length) right.append(make("h6", { text: "Contextual robustness" }), make("ul", {}, ...cell.contexts.map((text) => make("li", { text }))));
  if (cell.answers.length) right.append(make("h6", { text: "First answers" }), make("ul", {}, ...cell.answers.map(answerItem)));
  const notes = [cell.about, cell.is_highest ? "A node shows its highest child. With few sessions this value tends to be too high." : "", "Covers sampling error, not labelling error."];
  chart.box.querySelector(".node-card").replaceChildren(head, left, right, make("p", { class: "note", text: notes.filter(Boolean).join(" ") }));
}

function answerItem([label, turn, said, who]) {
  const link = make("a", { href: `#d/${encodeURIComponent(label)}`, text: label });
  return make("li", {}, link, ` ${turn ? `${turn}: ` : ": "}`, make("b", { text: said }), ` ${who}`);
}

/** Return the children of a node as a dot plot on their scale. */
function childPlot(below, isNarrow) {
  const [lowest, highest] = below[0].scale;
  const [left, width, whole] = isNarrow ? [104, 100, 300] : [200, 230, 560];
  const row = 26, height = row * below.length + 24, end = left + width;
  const at = (value) => left + (width * (value - lowest)) / (highest - lowest);
  const plot = draw("svg", { class: "children", viewBox: `0 0 ${whole} ${height}`, role: "img", "aria-label": below.map((child) => child.label).join("; ") });
  for (let step = 0; step <= 5; step += isNarrow ? 5 : 1) {
    const value = lowest + ((highest - lowest) * step) / 5;
    plot.append(draw("path", { class: "grid", d: `M${at(value)} 0V${height - 22}` }), draw("text", { class: "quiet-text", x: at(value), y: height - 6, "text-anchor": "middle" }, String(Number(value.toFixed(2)))));
  }
  below.forEach((child, index) => {
    const y = row * (index + 0.5);
    plot.append(draw("text", { x: 0, y: y + 4 }, fitting(child.title, left - 15)));
    if (child.low !== null) plot.append(draw("path", { class: "reach", d: `M${at(child.low)} ${y}H${at(child.high)}M${at(child.low)} ${y - 5}v10M${at(child.high)} ${y - 5}v10` }));
    plot.append(draw("circle", { cx: at(child.at), cy: y, r: 4.5 }), draw("text", { x: end + 44, y: y + 4, "text-anchor": "end" }, child.value), draw("text", { class: "quiet-text", x: end + 50, y: y + 4 }, `n ${thousands(child.n)}`));
  });
  return plot;
}

function changeForm(chart, form) {
  chart.form = form;
  for (const button of chart.box.querySelectorAll("[data-form]")) button.setAttribute("aria-pressed", String(button.dataset.form === form));
  chart.box.querySelector(".icicle-scroll").hidden = form !== "icicle";
  chart.box.querySelector(".sunburst").hidden = form === "icicle";
  if (form === "sunburst") drawSunburst(chart);
}

/** Return a cell and those below it in the form of the chart library. */
function sunburstNode(chart, cell, colours) {
  const below = chart.children[cell.key];
  const filled = cell.step >= 0;
  return {
    name: cell.title,
    key: cell.key,
    value: below.length ? undefined : cell.right - cell.left,
    itemStyle: { color: filled ? colours[cell.step] : colours.sunken, borderColor: colours.surface, borderWidth: 2 },
    label: { show: Boolean(cell.name), color: cell.step >= 6 ? colours["on-s6"] : cell.step === 5 ? colours["on-s5"] : colours.text },
    children: below.map((child) => sunburstNode(chart, child, colours)),
  };
}

function drawSunburst(chart) {
  const box = chart.box.querySelector(".sunburst");
  const names = ["surface", "sunken", "text", "on-s5", "on-s6", "accent"];
  const colours = Object.fromEntries(names.map((name) => [name, token(name)]));
  for (let step = 0; step < 9; step += 1) colours[step] = token(`s${step}`);
  if (!chart.sunburst) {
    chart.sunburst = echarts.init(box, null, { renderer: "svg" });
    chart.sunburst.on("click", ({ data }) => { if (data && chart.cells[data.key]?.name) choose(chart, chart.cells[data.key]); });
    new ResizeObserver(() => chart.sunburst.resize()).observe(box);
  }
  const focus = chart.cells[chart.zoomed];
  const rings = [["0", "14%"], ["14%", "44%"], ["44%", "60%"], ["60%", "74%"], ["74%", "86%"], ["86%", "97%"]];
  chart.sunburst.setOption({
    animation: false,
    aria: { enabled: true, label: { description: `Sunburst of ${focus.name}. The icicle states the same values.` } },
    tooltip: { renderMode: "richText", confine: true, formatter: ({ data }) => (data && data.key !== undefined ? chart.cells[data.key].label : "") },
    series: [{
      type: "sunburst",
      nodeClick: false,
      sort: null,
      data: [sunburstNode(chart, focus, colours)],
      levels: [{}, ...rings.map(([r0, r], index) => ({ r0, r, label: { ...(index ? {} : { show: false }), rotate: index === 1 ? 0 : "tangential", width: index === 1 ? 88 : 40 } }))],
      label: { fontSize: 12, lineHeight: 16, fontFamily: getComputedStyle(document.body).fontFamily, minAngle: 9, overflow: "truncate", formatter: ({ data }) => sunburstText(chart, data) },
      emphasis: { focus: "none", itemStyle: { borderColor: colours.accent } },
    }],
  }, true);
}

/** Return the text of a segment: title and value next to the middle, the value alone further out. */
function sunburstText(chart, data) {
  const cell = chart.cells[data.key];
  if (!cell || !cell.name) return "";
  return cell.parent === chart.zoomed ? `${cell.title}\n${cell.value}`.trim() : cell.value;
}

/** Show one application of a tree at a time; without a script all of them stand below each other. */
function chooseApplication(picker) {
  const charts = [...picker.closest(".tree").querySelectorAll(".tree-chart")];
  const pick = (name) => {
    for (const box of charts) box.hidden = box.dataset.application !== name;
    for (const button of picker.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.pick === name));
  };
  for (const button of picker.querySelectorAll("button")) button.addEventListener("click", () => pick(button.dataset.pick));
  if (charts.length) pick(charts[0].dataset.application);
  window.addEventListener("beforeprint", () => { for (const box of charts) box.hidden = false; });
}

for (const box of document.querySelectorAll(".tree-chart")) treeChart(box);
for (const picker of document.querySelectorAll(".application-picker")) chooseApplication(picker);
