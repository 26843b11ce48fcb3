// Addresses and keys.

/** Return the place of the case that the address names, if it names one. */
function placeFromAddress() {
  if (!location.hash.startsWith("#d/")) return undefined;
  try {
    return placeOf.get(decodeURIComponent(location.hash.slice(3)));
  } catch {
    return undefined;
  }
}

let cameFrom = 0;

const tabs = [...document.querySelectorAll(".tab")];

/** Show the tab that holds an element, and no other; the overview where there is no such element. */
function showTab(element) {
  const wanted = (element && element.closest(".tab")) || byId("overview");
  for (const tab of tabs) tab.hidden = tab !== wanted;
  document.body.dataset.tab = wanted.id;
  if (wanted.id === "matrix") startMatrix();
  for (const link of document.querySelectorAll(".tabs a")) {
    const target = document.querySelector(link.getAttribute("href"));
    if (target && target.closest(".tab") === wanted) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    } else link.removeAttribute("aria-current");
  }
  return wanted;
}

/** Show the part of the report that an element of the page stands in, from its beginning or from the element on. */
function showPart(element) {
  const wanted = showTab(element);
  const isFirst = !element || wanted === element || wanted.firstElementChild === element;
  if (isFirst) window.scrollTo({ top: 0, behavior: "instant" });
  else element.scrollIntoView({ behavior: "instant" });
}

function elementFromAddress() {
  return /^#[\w-]+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
}

function follow() {
  const place = placeFromAddress();
  const reading = !byId("reader").hidden;
  if (place !== undefined) {
    if (!reading) cameFrom = window.scrollY;
    if (!list.found.includes(place)) showSet("all", { scroll: false });
    openCase(place);
    return;
  }
  if (reading) closeCase();
  if (location.hash.startsWith("#cell/")) {
    followCell();
    return;
  }
  showPart(elementFromAddress());
  if (reading && location.hash === "#dialogues") returnToList();
}

function returnToList() {
  window.scrollTo({ top: cameFrom, behavior: "instant" });
  const links = byId("list").querySelectorAll("a");
  if (links[list.current]) links[list.current].focus({ preventScroll: true });
}

/** Leave the dialogue for the report: for the cell that the drawer shows, else for the list. */
function leave() {
  const panel = byId("drawer");
  if (panel && !panel.hidden) {
    history.pushState(null, "", `${location.pathname}${location.search}#cell/${drawer.place}`);
    follow();
    return;
  }
  const isFromMatrix = document.body.dataset.tab === "matrix";
  history.pushState(null, "", `${location.pathname}${location.search}${isFromMatrix ? "#matrix" : "#dialogues"}`);
  follow();
  if (isFromMatrix) window.scrollTo({ top: cameFrom, behavior: "instant" });
}

/** Go to the next or previous case within the set one came from. */
function step(by) {
  const place = placeFromAddress();
  if (place === undefined && (stepInDrawer(by) || stepInMatrix(by))) return;
  if (place === undefined) {
    markCurrent(document.activeElement && document.activeElement.closest("#list") ? by : 0);
    return;
  }
  const at = list.found.indexOf(place) + by;
  if (at >= 0 && at < list.found.length) {
    list.current = at;
    location.replace(addressOf(list.found[at]));
  }
}

function escape() {
  if (placeFromAddress() !== undefined) leave();
  else if (closeDrawer()) return;
  else if (list.name !== "all" || byId("search").value) showSet("all", { scroll: false });
}

const acts = {
  "/": () => {
    if (placeFromAddress() !== undefined) leave();
    const field = byId(document.body.dataset.tab === "matrix" ? "matrix-search" : "search");
    if (field.id === "search") showPart(byId("dialogues"));
    field.focus({ preventScroll: true });
  },
  j: () => step(1),
  k: () => step(-1),
  d: () => document.body.dataset.tab === "matrix" && placeFromAddress() === undefined && switchDifferences(),
  Escape: escape,
  "?": () => byId("keys").showModal(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input, textarea, select");
  if (typing && event.key !== "Escape") {
    if (event.key === "Enter") markCurrent(0);
    return;
  }
  const act = acts[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}
