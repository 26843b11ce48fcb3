// One dialogue: what was said at the left, who said what about it at the right.

const chosen = new Set();

/** Return the address of a case; it can be pasted. */
function addressOf(place) {
  return `#d/${encodeURIComponent(cases[place].label).replaceAll("%2F", "/")}`;
}

/** Show one case in place of the report. */
function openCase(place) {
  const reader = byId("reader");
  reader.replaceChildren(barOf(place), ...sheetOf(place));
  byId("report").hidden = true;
  reader.hidden = false;
  window.scrollTo(0, 0);
  reader.querySelector("h1").focus({ preventScroll: true });
}

/** Go back to the report, to where one came from. */
function closeCase() {
  byId("reader").hidden = true;
  byId("report").hidden = false;
}

function barOf(place) {
  const at = list.found.indexOf(place);
  const set = setNamed(list.name);
  const where = at < 0 ? "" : `${at + 1} of ${thousands(list.found.length)}: ${set.title}`;
  const previous = make("button", { type: "button", class: "btn sm", text: "Previous", onclick: () => step(-1) });
  const next = make("button", { type: "button", class: "btn sm", text: "Next", onclick: () => step(1) });
  previous.disabled = at <= 0;
  next.disabled = at < 0 || at >= list.found.length - 1;
  const pick = make("button", { type: "button", class: "btn sm", "aria-pressed": String(chosen.has(place)), text: "Print this one", onclick: () => choosePrinted(place, pick) });
  return make(
    "div",
    { class: "bar" },
    make("button", { type: "button", class: "btn sm", text: "Back", onclick: leave }),
    previous,
    next,
    make("span", { class: "place", text: where }),
    siblingsOf(place),
    pick,
  );
}

/** Return links to what the other applications replied to the same prompts; null where there are none. */
function siblingsOf(place) {
  const { pair } = cases[place];
  const group = pair === undefined ? [] : groupsByPair()[pair];
  if (group.length < 2) return null;
  const links = group.map((other) =>
    make("a", { href: addressOf(other), "aria-current": other === place ? "page" : "" }, markerOf(cases[other].application), cases[other].application),
  );
  return make("nav", { class: "siblings", "aria-label": "Same prompts, other application" }, ...links);
}

function choosePrinted(place, button) {
  if (!chosen.delete(place)) chosen.add(place);
  button.setAttribute("aria-pressed", String(chosen.has(place)));
}

function sheetOf(place) {
  const entry = cases[place];
  const groups = Object.entries(entry.groups).map(([name, value]) => `${name}: ${value}`);
  const heldBy = entry.by === "recorded" ? "recorded" : `by ${entry.by}`;
  const about = [entry.application, entry.scenario, entry.level, heldBy, ...groups].join("; ");
  const head = make("header", { class: "sheet-head" }, make("h1", { text: entry.label, tabindex: "-1" }), make("p", { class: "legend", text: about }));
  const scripted = entry.scripted ? make("p", { class: "warning", text: `A script answered in place of a model: ${entry.scripted.join(", ")}.` }) : null;
  return [make("div", { class: "sheet" }, make("div", { class: "said-side card" }, head, scripted, ...saidOf(entry)), make("div", { class: "cards" }, ...cardsOf(entry)))];
}

function saidOf(entry) {
  const parts = [];
  if (entry.withheld) parts.push(make("p", { class: "withheld", text: `The texts of this dialogue are withheld: ${entry.withheld}. Its labels are counted like all others.` }));
  else parts.push(...(entry.turns || []).map((turn, at) => turnOf(entry, turn, at + 1)));
  for (const failure of entry.failures || []) {
    const turn = failure.turn ? ` in turn ${failure.turn}` : "";
    parts.push(make("p", { class: "warning", text: `Failed${turn}: ${failure.party} ${failure.kind}. ${failure.message} (tries: ${failure.tries}${failure.spent ? `; took ${failure.spent}` : ""})` }));
  }
  if (!parts.length) parts.push(make("p", { class: "legend", text: "Not held yet." }));
  if (entry.ending) parts.push(make("p", { class: "legend", text: `Ended: ${entry.ending}.` }));
  if (entry.spent) parts.push(make("p", { class: "legend", text: `The dialogue took ${entry.spent}.` }));
  parts.push(folded("Persona", entry.persona && entry.persona.text), folded("Source material", entry.context !== undefined && data.contexts[entry.context]));
  return parts.filter((part) => part !== null);
}

function folded(title, text) {
  return text ? make("details", {}, make("summary", { text: title }), make("pre", { text })) : null;
}

function turnOf(entry, [prompt, response], number) {
  const user = make("p", { class: "said user" }, ...marked(prompt, entry, number));
  const asked = make("p", { class: "who user", text: entry.persona ? entry.persona.name : "User" });
  const reply = make("p", { class: "said" }, ...marked(response, entry, number));
  const replied = make("p", { class: "who" }, markerOf(entry.application), entry.application);
  const heading = entry.turns.length > 1 ? make("p", { class: "n", text: `Turn ${number} of ${entry.turns.length}` }) : null;
  const tried = attemptsIn(entry, number).map((words) => make("p", { class: "legend", text: words }));
  const parts = [heading, user, asked, sourceOf(entry, number), foundIn(entry, number), reply, replied, ...tried];
  return make("div", { class: "turn" }, ...parts.filter((part) => part !== null));
}

/** Return the source material of one turn, folded; null where it has none. */
function sourceOf(entry, number) {
  const place = entry.sources && entry.sources[number - 1];
  return place === undefined || place === null ? null : folded("Source material of this turn", data.contexts[place]);
}

/** Return what the search for a turn's prompt has found, folded; null where nothing was searched. */
function foundIn(entry, number) {
  const found = entry.found && entry.found[number - 1];
  if (!found) return null;
  const texts = found.map((place, at) => `[${at + 1}] ${data.contexts[place]}`);
  const title = `${found.length} ${found.length === 1 ? "passage" : "passages"} found for this prompt`;
  return folded(title, texts.join("\n\n") || "Nothing in the corpus shares a word with it.");
}

/** Return what a red teamer tried in a turn and what came of it, in words. */
function attemptsIn(entry, number) {
  return (entry.strategies || []).flatMap((strategy) =>
    strategy.attempts
      .filter((attempt) => attempt.turn === number)
      .map((attempt) => {
        const planted = attempt.planted ? ` Planted in the source material: ${attempt.planted}` : "";
        const refines = attempt.refines ? ` (refines attempt ${attempt.refines})` : "";
        return `${strategy.title}: ${attempt.what}${refines}; ${attempt.outcome}.${planted}`;
      }),
  );
}

/** Return a text in pieces, with the quotes of annotators marked in their tint; the first of two that overlap wins. */
function marked(text, entry, number) {
  const pieces = [];
  let at = 0;
  for (const { start, quote, by } of quotesIn(text, entry, number)) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), make("mark", { text: quote, title: titleOf(by), tabindex: "-1" }));
    at = start + quote.length;
  }
  return [...pieces, text.slice(at)];
}

function quotesIn(text, entry, number) {
  const found = [];
  for (const annotation of entry.annotations) {
    for (const [turn, quote, verified] of annotation.answers.flatMap((answer) => answer.quotes || [])) {
      const start = turn === number && verified && quote ? text.indexOf(quote) : -1;
      if (start >= 0) found.push({ start, quote, by: annotation.by });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Go from a quote on a card to its place in the dialogue. */
function goToQuote(quote) {
  const mark = [...byId("reader").querySelectorAll("mark")].find((candidate) => candidate.textContent === quote);
  if (!mark) return;
  mark.scrollIntoView({ block: "center" });
  mark.focus({ preventScroll: true });
}

function cardsOf(entry) {
  const cards = entry.annotations.map((annotation) => cardOf(annotation, entry.label));
  const finals = entry.finals.map((final) =>
    make("section", { class: "card judgement" }, make("h2", { text: `Final label (${final.origin})` }), valueLine(final.question, final.value)),
  );
  const all = [...finals, ...cards];
  return all.length ? all : [make("p", { class: "legend", text: "Nobody has labelled it." })];
}

function valueLine(question, value) {
  return make("p", {}, `${question}: `, make("span", { class: "value", text: value }));
}

/** Return how high a label stands on its scale, as filled steps; null where the scale has no order that can be drawn. */
function stepsOf(by, value) {
  const scale = (annotatorOf.get(by) || {}).scale || [];
  const at = scale.indexOf(value);
  if (at < 0) return null;
  return make("span", { class: "steps", role: "img", "aria-label": `${at + 1} of ${scale.length}` }, ...scale.map((_, n) => make("i", { class: n <= at ? "on" : "" })));
}

function headOf(annotation) {
  const known = annotatorOf.get(annotation.by) || {};
  const title = titleOf(annotation.by);
  const [only] = annotation.answers.length === 1 ? annotation.answers : [];
  const letters = known.kind === "person" ? title.replace(/[^A-Z0-9]/g, "").slice(-2) || title.slice(0, 1).toUpperCase() : "";
  const avatar = make("span", { class: "avatar", "aria-hidden": "true", text: letters }, letters ? null : icon("judge"));
  const about = make("p", { class: "caption", text: [known.kind, annotation.guideline && `guideline ${annotation.guideline}`].filter(Boolean).join(", ") });
  const who = make("div", {}, make("h2", { text: title }), about);
  const value = only ? make("span", { class: "lead", text: only.value || only.outcome }) : null;
  return make("header", {}, avatar, who, only ? stepsOf(annotation.by, only.value) : null, value);
}

/** Return what an annotator was sent, what came back and what it took, folded; texts are made once it is opened. */
function callsOf(calls, label) {
  const took = calls.spent ? ` (${calls.spent})` : "";
  const title = calls.leftOut ? `What it took${took}` : `Prompt and raw reply${took}`;
  const fold = make("details", { class: "calls" }, make("summary", { text: title }));
  const leftOut = `Prompt and raw reply have no room in this file. To read them:  ${data.show} ${label} --raw`;
  const parts = () => (calls.leftOut ? [make("p", { class: "legend", text: leftOut })] : calls.texts.flatMap(callText));
  fold.addEventListener("toggle", () => fold.childElementCount === 1 && fold.append(...parts()), { once: true });
  return fold;
}

function callText([name, numbers]) {
  const text = numbers.map((number) => data.lines[number]).join("\n");
  return [make("h3", { text: name }), make("pre", { tabindex: "0", "aria-label": name, role: "region", text })];
}

function quoteOf([at, quote, verified]) {
  const turn = at > 0 ? `turn ${at}` : at === 0 ? "source material" : "no turn named";
  const words = verified ? make("button", { type: "button", class: "part quote", text: `"${quote}"`, onclick: () => goToQuote(quote) }) : `"${quote}"`;
  const where = make("p", { class: "caption", text: verified ? `${turn}, verified word for word` : `${turn}, NOT in the text` });
  return make("div", { class: verified ? "evidence" : "evidence unverified" }, make("p", {}, words), where);
}

function cardOf(annotation, label) {
  const card = make("section", { class: "card judgement" }, headOf(annotation));
  const isOne = annotation.answers.length === 1;
  const known = new Set();
  for (const answer of annotation.answers) {
    const turn = answer.turn ? ` (turn ${answer.turn})` : "";
    if (!isOne || turn) card.append(valueLine(answer.question + turn, answer.value || answer.outcome));
    // Several answers of one verdict share reason and quotes: the card shows them once.
    const grounds = JSON.stringify([answer.reasoning, answer.quotes]);
    const isNew = !known.has(grounds);
    known.add(grounds);
    if (answer.reasoning && isNew) card.append(make("p", { text: answer.reasoning }));
    if (isNew) card.append(...(answer.quotes || []).map(quoteOf));
    const raw = annotation.calls && annotation.calls.texts ? null : folded("Raw reply", answer.raw);
    if (raw) card.append(raw);
  }
  for (const note of annotation.notes || []) card.append(make("p", { class: "legend", text: note }));
  const scripted = annotation.scripted ? " a script answered in place of a model" : "";
  const links = [versionLink(annotation.guideline, annotation.instrument), " ", versionLink("annotator", annotation.version)];
  card.append(make("p", { class: "versions" }, ...links, scripted));
  if (annotation.calls) card.append(callsOf(annotation.calls, label));
  return card;
}

/** Put the chosen dialogues where only print sees them. */
function layOutChosen() {
  const places = byId("reader").hidden || chosen.size ? [...chosen] : [placeFromAddress()];
  byId("chosen").replaceChildren(...places.filter((place) => place !== undefined).map((place) => make("article", {}, ...sheetOf(place))));
  document.body.classList.add("printing");
}
