// What the page knows: cases in order of the plan, sets of them, estimates.

const data = JSON.parse(byId("data").textContent);
const cases = data.cases;
for (const entry of cases) {
  entry.annotations = entry.annotations.map((annotation) => ({ ...data.sittings[annotation.sitting], ...annotation }));
}
const placeOf = new Map(cases.map((entry, place) => [entry.label, place]));
const annotatorOf = new Map(data.annotators.map((annotator, place) => [annotator.name, { ...annotator, place }]));
const everyCase = cases.map((_, place) => place);

for (const set of Object.values(data.sets)) {
  if (set.as) Object.assign(set, { cases: data.sets[set.as].cases, n: data.sets[set.as].n });
}

const planned = data.planned || cases.length;

/** Return how many dialogues a set has in the whole run; a large run's file holds only some of them. */
function sizeOf(set) {
  return set.n === undefined ? set.cases.length : set.n;
}

/** Return a set by name; the set of all cases where there is none. */
function setNamed(name) {
  return data.sets[name] || { title: "All dialogues", cases: everyCase, n: planned };
}

/** Return what an annotator is called. */
function titleOf(name) {
  return annotatorOf.has(name) ? annotatorOf.get(name).title : name;
}

/** Return the text that a search looks through, made once for each case. */
function haystack(entry) {
  if (entry.haystack === undefined) {
    const turns = (entry.turns || []).flat();
    const answers = entry.annotations.flatMap((a) => a.answers.flatMap((x) => [x.value || x.outcome, x.reasoning || "", x.raw || ""]));
    const groups = Object.values(entry.groups);
    const failures = (entry.failures || []).map((failure) => `${failure.party} ${failure.kind} ${failure.message}`);
    entry.haystack = [entry.label, ...turns, ...answers, ...groups, ...failures].join("\n").toLowerCase();
  }
  return entry.haystack;
}

/** Return the first words of a dialogue, or why there are none. */
function excerptOf(entry) {
  if (entry.withheld) return { text: `withheld: ${entry.withheld}`, none: true };
  if (entry.turns && entry.turns.length) return { text: entry.turns[0][0].slice(0, 200), none: false };
  const failure = (entry.failures || [])[0];
  return { text: failure ? `failed: ${failure.party} ${failure.kind}` : "not run yet", none: true };
}

/** Return what everybody said about a dialogue, in one line; who agrees stands together. */
function verdictsOf(entry) {
  const byValue = new Map();
  for (const annotation of entry.annotations) {
    const value = annotation.answers.map((answer) => answer.value || answer.outcome).join(", ");
    byValue.set(value, [...(byValue.get(value) || []), titleOf(annotation.by)]);
  }
  if (byValue.size === 1 && entry.annotations.length > 1) return `all: ${[...byValue.keys()][0]}`;
  return [...byValue].map(([value, names]) => `${value}: ${names.join(", ")}`).join("; ");
}

/** Return a version as something to click that leads to its full text, or as text where the report has none. */
function versionLink(words, version) {
  const short = version.slice(0, 8);
  const text = `${words} ${short}`;
  if (!document.querySelector(`#instruments details[data-version="${CSS.escape(short)}"]`)) return text;
  return make("button", { type: "button", class: "part version", text, onclick: () => openVersion(short) });
}

/** Show the full text of a version. */
function openVersion(short) {
  byId("panel").close();
  if (placeFromAddress() !== undefined) leave();
  const details = document.querySelector(`#instruments details[data-version="${CSS.escape(short)}"]`);
  showTab(details);
  details.open = true;
  details.scrollIntoView({ block: "center" });
  details.querySelector("summary").focus({ preventScroll: true });
}

/** Return the mark of an application: its hue and its shape. */
function markerOf(application) {
  const place = data.applications.indexOf(application);
  return make("span", { class: `key t${place < 0 ? 7 : place % 8}`, "aria-hidden": "true" });
}

let pairs;

/** Return the cases of each group of equal prompts, in order of the plan. */
function groupsByPair() {
  if (!pairs) {
    pairs = [];
    cases.forEach((entry, place) => {
      if (entry.pair !== undefined) (pairs[entry.pair] = pairs[entry.pair] || []).push(place);
    });
  }
  return pairs;
}
