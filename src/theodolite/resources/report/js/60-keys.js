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

function follow() {
  const place = placeFromAddress();
  const reading = !byId("reader").hidden;
  if (place !== undefined) {
    if (!reading) cameFrom = window.scrollY;
    if (!list.found.includes(place)) showSet("all", { scroll: false });
    openCase(place);
  } else if (reading) {
    closeCase();
    if (location.hash.length < 2 || location.hash === "#dialogues") returnToList();
  }
}

function returnToList() {
  window.scrollTo({ top: cameFrom, behavior: "instant" });
  const links = byId("list").querySelectorAll("a");
  if (links[list.current]) links[list.current].focus({ preventScroll: true });
}

/** Leave the dialogue for the report. */
function leave() {
  history.pushState(null, "", location.pathname + location.search + "#dialogues");
  follow();
}

/** Go to the next or previous case within the set one came from. */
function step(by) {
  const place = placeFromAddress();
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
  else if (list.name !== "all" || byId("search").value) showSet("all", { scroll: false });
}

const acts = {
  "/": () => {
    if (placeFromAddress() !== undefined) leave();
    byId("dialogues").scrollIntoView();
    byId("search").focus({ preventScroll: true });
  },
  j: () => step(1),
  k: () => step(-1),
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
