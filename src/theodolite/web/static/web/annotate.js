// The annotation page: one card at a time, answers saved at once, single choices lead to the next question.

import { Cards } from "./annotate/cards.js";
import { bindKeys } from "./annotate/keymap.js";
import { Quotes, draw } from "./annotate/quotes.js";
import { Saving, clock } from "./annotate/saving.js";

const TYPING_MS = 800;

const columns = document.querySelector(".annotation");
const form = document.querySelector("#sheet");
const find = (selector) => document.querySelector(selector);
const advances = document.body.dataset.advances !== "off";
document.documentElement.classList.add("with-script");

form.addEventListener("chosen", (event) => paintExemplars(event.target.dataset.key));
const steps = [...document.querySelectorAll("[data-go]")];
const cards = new Cards(form, shown);
const saving = new Saving(form, find("#saved"), onAnswer);
const quotes = new Quotes(find(".dialogue"), () => cards.current, (item) => saving.keep(item));

const savedBefore = find("[data-saved]");
if (savedBefore) savedBefore.textContent = `Saved ${clock(savedBefore.dateTime)}`;
let leadsElsewhere = false;
cards.start(form.dataset.start, { focus: new URLSearchParams(location.search).has("at") });
paintOpen();

function shown(card) {
  const turn = card.dataset.turn;
  for (const one of document.querySelectorAll(".turn")) {
    const isAsked = one.dataset.turn === turn;
    one.classList.toggle("asked", isAsked);
    one.toggleAttribute("aria-current", isAsked);
    if (isAsked) scrollTo(one);
  }
  for (const [place, step] of steps.entries()) {
    const isCurrent = cards.all[place] === card;
    step.toggleAttribute("aria-current", isCurrent);
    if (isCurrent) step.setAttribute("aria-current", "step");
    if (isCurrent) bringInto(step.closest("ol"), step);
  }
  find(".questions").scrollTop = 0;
}

/** Bring a step into view within its row alone. */
function bringInto(row, step) {
  row.scrollLeft += step.getBoundingClientRect().left - row.getBoundingClientRect().left - 16;
}

/** Show the examples of the question in hand alone; those of the others are a step away. */
function paintExemplars(key) {
  const question = key.replace(/@\d+$/, "");
  for (const one of document.querySelectorAll("[data-exemplars]")) one.hidden = one.dataset.exemplars !== question;
}

/** Bring a turn into view within the dialogue alone; the page does not move. */
function scrollTo(turn) {
  const frame = find(".turns");
  if (frame.scrollHeight > frame.clientHeight) frame.scrollTop = turn.offsetTop - 8;
}

function onAnswer(state, item) {
  if (state) applyState(state);
  if (leadsElsewhere && (state?.undone || cards.waitsFor(item))) return void reload(state.undone?.key ?? "");
  cards.release(item);
  paintOpen();
}

/** Load the page again, because the answers lead to other categories now; keys pressed meanwhile answer nothing. */
async function reload(key) {
  await saving.settle();
  location.replace(`${location.pathname}?at=${encodeURIComponent(key)}`);
}

function applyState(state) {
  const unsent = [...saving.waiting].filter((item) => hasAnswer(item)).map((item) => item.dataset.key);
  if (state.asked) cards.update(state, new Set(unsent));
  if (state.following !== undefined) leadsElsewhere = state.following !== form.dataset.following;
  for (const [key, words] of Object.entries(state.feedback ?? {})) {
    const box = cards.item(key)?.querySelector(".feedback");
    if (box) box.textContent = words;
  }
  if (state.undone && cards.item(state.undone.key)) restore(state.undone);
}

function hasAnswer(item) {
  const fields = [...item.querySelectorAll("input, textarea")].filter((field) => /^a:/.test(field.name));
  return fields.some((field) => (field.type === "radio" || field.type === "checkbox" ? field.checked : field.value.trim()));
}

/** Put back what stood in an item before its latest answer. */
function restore({ key, values, quotes: lines, note }) {
  const item = cards.item(key);
  for (const field of item.querySelectorAll("input, textarea")) {
    if (field.name.startsWith("quotes:")) field.value = lines.join("\n");
    else if (field.name.startsWith("note:")) field.value = note;
    else if (field.type === "radio" || field.type === "checkbox") field.checked = values.includes(field.value);
    else if (field.type !== "hidden") field.value = values[0] ?? "";
  }
  draw(item, (one) => saving.keep(one));
  cards.show(item.closest("[data-card]"), { focus: true });
  cards.choose(item);
}

/** Say what is open: at each turn, and in the line at the bottom. */
function paintOpen() {
  const open = cards.visible.flatMap((card) => cards.asked(card)).filter((item) => cards.open.has(item.dataset.key));
  const turns = new Set(open.map((item) => item.dataset.turn));
  const asks = new Set(cards.all.map((card) => card.dataset.turn));
  for (const one of document.querySelectorAll(".turn")) {
    const state = one.querySelector(".turn-state");
    if (!asks.has(one.dataset.turn)) continue;
    state.textContent = turns.has(one.dataset.turn) ? "open" : "ok";
    state.classList.toggle("open", turns.has(one.dataset.turn));
  }
  const n = open.length;
  const done = leadsElsewhere ? "These answers lead to other questions" : "All questions answered";
  const numbers = [...new Set(open.map((item) => item.dataset.turn).filter(Boolean))];
  const where = numbers.length ? [`${numbers.length === 1 ? "turn" : "turns"} ${numbers.slice(0, 12).join(", ")}${numbers.length > 12 ? ", ..." : ""}`] : [];
  if (open.some((item) => !item.dataset.turn)) where.push("whole dialogue");
  find("#open").textContent = n ? `${n} ${n === 1 ? "question" : "questions"} open: ${where.join("; ")}` : done;
  find("[data-open-button]").hidden = !n && !leadsElsewhere;
  steps.forEach((step, place) => paintStep(step, cards.all[place]));
}

/** Write at a step how many of its questions are answered. */
function paintStep(step, card) {
  const items = cards.asked(card);
  const n = items.filter((item) => !cards.open.has(item.dataset.key)).length;
  step.closest("li").hidden = card.classList.contains("closed");
  step.classList.toggle("done", n === items.length);
  step.querySelector(".card-step-count").textContent = `${n} of ${items.length}`;
  step.style.setProperty("--share", `${items.length ? (100 * n) / items.length : 0}%`);
}

let typing = 0;
let byPointer = false;
form.addEventListener("pointerdown", () => (byPointer = true));
form.addEventListener("keydown", () => (byPointer = false));
form.addEventListener("change", (event) => {
  const item = event.target.closest(".item");
  if (!item) return;
  clearTimeout(typing);
  saving.keep(item);
  if (advances && event.target.type === "radio" && (byPointer || event.detail?.isKey)) cards.advance(item);
  paintOpen();
});
form.addEventListener("input", (event) => {
  if (!event.target.matches("textarea, input[type=text], input[type=number]")) return;
  clearTimeout(typing);
  typing = setTimeout(() => saving.keep(event.target.closest(".item")), TYPING_MS);
});
form.addEventListener("submit", async (event) => {
  if (form.dataset.settled) return;
  event.preventDefault();
  await saving.settle();
  if (event.submitter?.name === "submit" && cards.open.size && cards.nextOpen({ first: true })) {
    saving.say("Not submitted: some questions are not answered. This is the first one.", true);
    return;
  }
  form.dataset.settled = "yes";
  form.requestSubmit(event.submitter);
});

/** Open a panel by its key and put the focus into it; the same key closes it. */
function panel(name) {
  const box = find(`[data-panel="${name}"]`);
  if (!box || box.hidden) return false;
  showTab("reference");
  box.open = !box.open;
  const first = box.querySelector("input:not([type=hidden]), textarea, select") ?? box.querySelector("summary");
  (box.open ? first : cards.current).focus();
  return true;
}

function showTab(name) {
  for (const tab of document.querySelectorAll("[data-tab]")) tab.setAttribute("aria-pressed", String(tab.dataset.tab === name));
  columns.dataset.shows = name;
}

function close() {
  const open = [...document.querySelectorAll("details.act[open], details.panel[open]")];
  open.forEach((one) => (one.open = false));
  if (open.length) cards.current.focus({ preventScroll: true });
  showTab("questions");
  return open.length > 0;
}

/** Show the next open question; at the end of a page whose answers lead to other categories, load these. */
function nextOpen() {
  if (!cards.nextOpen() && leadsElsewhere) reload("");
}

const submit = () => cards.inTurn(() => form.requestSubmit(find("button[name=submit]")));
const answers = Object.fromEntries([..."ynua0123456789"].map((key) => [key, () => cards.inTurn(() => cards.answer(key))]));
bindKeys(
  {
    ...answers,
    j: () => cards.step(1),
    k: () => cards.step(-1),
    ArrowDown: (event) => !event.target.matches("input") && cards.step(1),
    ArrowUp: (event) => !event.target.matches("input") && cards.step(-1),
    "[": () => cards.turn(-1),
    "]": () => cards.turn(1),
    Enter: () => cards.inTurn(nextOpen),
    e: () => panel("examples"),
    g: () => panel("guideline"),
    r: () => panel("reference"),
    c: () => panel("comment"),
    f: () => panel("flag"),
    q: () => cards.inTurn(() => quotes.pick(cards.card.dataset.turn)),
    z: () => (find("[data-undo-button]") ? void saving.undo() : false),
    "?": () => panel("keys"),
  },
  { "Ctrl+Enter": submit, Escape: close },
);

find("[data-undo-button]")?.addEventListener("click", () => saving.undo());
find("[data-open-button]").addEventListener("click", nextOpen);
for (const button of document.querySelectorAll("[data-quote-button]")) {
  button.addEventListener("click", () => {
    cards.choose(button.closest(".item"));
    quotes.pick(cards.card.dataset.turn);
  });
}
for (const button of steps) {
  button.addEventListener("click", () => cards.show(cards.all[Number(button.dataset.go)], { focus: true }));
}
for (const tab of document.querySelectorAll("[data-tab]")) tab.addEventListener("click", () => showTab(tab.dataset.tab));

const search = find("[data-search]");
search?.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  let found = 0;
  for (const fact of document.querySelectorAll("[data-fact], [data-facts] :is(p, li, tbody tr, pre)")) {
    fact.hidden = Boolean(wanted) && !fact.textContent.toLowerCase().includes(wanted);
    found += fact.hidden ? 0 : 1;
  }
  find("#found").textContent = wanted ? `${found} found` : "";
});
