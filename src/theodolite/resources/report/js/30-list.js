// The list of dialogues: a set, narrowed by a search, drawn a piece at a time.

const PIECE = 60;
const list = { name: "all", found: everyCase, drawn: 0, current: 0 };

/** Show a set of cases in the list. */
function showSet(name, { scroll = true } = {}) {
  list.name = data.sets[name] || name === "all" ? name : "all";
  byId("search").value = "";
  for (const chip of document.querySelectorAll("#dialogues .chip")) {
    chip.setAttribute("aria-pressed", String(chip.dataset.chip === list.name));
  }
  refill();
  if (scroll) {
    if (location.hash !== "#dialogues") history.pushState(null, "", `${location.pathname}${location.search}#dialogues`);
    showPart(byId("dialogues"));
    byId("dialogues-title").focus({ preventScroll: true });
  }
}

/** Narrow the set by the search and draw it again. */
function refill() {
  const wanted = byId("search").value.trim().toLowerCase();
  const set = setNamed(list.name);
  list.found = wanted ? set.cases.filter((place) => haystack(cases[place]).includes(wanted)) : set.cases;
  list.drawn = 0;
  list.current = 0;
  byId("list").replaceChildren();
  const chip = data.chips.find((candidate) => candidate.name === list.name && candidate.name !== "all");
  const meaning = chip ? ` (${chip.meaning})` : "";
  const narrowed = wanted ? `, of which ${thousands(list.found.length)} hold "${wanted}"` : "";
  const here = sizeOf(set) > set.cases.length ? `, ${thousands(set.cases.length)} of them in this file` : "";
  byId("found").textContent = `${set.title}: ${thousands(sizeOf(set))} of ${thousands(planned)} dialogues${meaning}${here}${narrowed}`;
  drawPiece();
}

function drawPiece() {
  const piece = list.found.slice(list.drawn, list.drawn + PIECE);
  byId("list").append(...piece.map((place) => row(place)));
  list.drawn += piece.length;
  byId("more").hidden = list.drawn >= list.found.length;
}

function row(place) {
  const entry = cases[place];
  const excerpt = excerptOf(entry);
  const link = make(
    "a",
    { href: addressOf(place) },
    make("span", { class: "label", text: entry.label }),
    make("span", { class: excerpt.none ? "excerpt none" : "excerpt", text: excerpt.text }),
    make("span", { class: "verdicts", text: verdictsOf(entry) }),
  );
  return make("li", {}, link);
}

/** Mark the row that `Enter` would open. */
function markCurrent(step) {
  const last = list.found.length - 1;
  list.current = Math.max(0, Math.min(last, list.current + step));
  while (list.drawn <= list.current && list.drawn < list.found.length) drawPiece();
  const links = byId("list").querySelectorAll("a");
  for (const link of links) link.classList.remove("current");
  if (links[list.current]) {
    links[list.current].classList.add("current");
    links[list.current].focus();
  }
}

const watcher = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting) && !byId("more").hidden) drawPiece();
}, { rootMargin: "400px" });
