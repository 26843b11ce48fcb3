// The tester's page: sending, replies as they come, lost connections. Without this file the page is a plain form.

import { keys } from "./keys.js";

document.documentElement.classList.add("scripted");

const page = document.querySelector("[data-chat]");
const log = document.getElementById("dialogue");
const form = document.getElementById("say");
const box = form?.querySelector("textarea");
const banner = document.getElementById("offline");
const fault = document.getElementById("say-fault");
const announce = document.getElementById("announce");
const saved = document.getElementById("saved");
const streams = page.dataset.streams === "yes";
const draft = `draft ${page.dataset.draft}`;
const RETRY_MS = 2000;
const LOOK_MS = 15000;
const KEEP_MS = 800; // after the last letter
const touch = window.matchMedia("(pointer: coarse)"); // its keyboard has no Shift+Enter
let keeping = 0;

const last = () => log.querySelector("article:last-of-type");
const underWay = () => log.querySelector("article[data-stream]");
const csrf = () => form.querySelector("[name=csrfmiddlewaretoken]").value;

function offline(isOff) {
  if (banner.hidden === isOff) banner.hidden = !isOff;
}

function tell(text) {
  fault.textContent = text;
  fault.hidden = !text;
}

function noteSaved(words = page.dataset.saved) {
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  saved.textContent = words.replace("{time}", time);
}

function nearTheEnd() {
  return window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 160;
}

function toTheEnd(behavior = "auto") {
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior });
}

let isAtTheEnd = true;
window.addEventListener("scroll", () => { isAtTheEnd = nearTheEnd(); }, { passive: true });
window.addEventListener("resize", () => { if (isAtTheEnd) toTheEnd("instant"); }); // a touch keyboard opens or closes

function element(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  return holder.content.firstElementChild;
}

// ---- replies as they come

function follow(article) {
  let upto = Number(article.dataset.shown || 0);
  const words = article.querySelector(".reply .words");
  const waiting = article.querySelector(".waiting");
  const source = new EventSource(`${article.dataset.stream}?after=${upto}`);
  source.addEventListener("open", () => offline(false));
  source.addEventListener("piece", (event) => {
    offline(false);
    const follows = nearTheEnd();
    upto = Number(event.lastEventId);
    article.dataset.shown = upto;
    if (streams) {
      words.append(JSON.parse(event.data));
      waiting?.remove();
    }
    if (follows) toTheEnd();
  });
  source.addEventListener("end", (event) => {
    source.close();
    offline(false);
    finish(article, JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    offline(true);
    if (source.readyState === EventSource.CLOSED && article.isConnected) setTimeout(() => follow(article), RETRY_MS);
  });
}

function finish(article, ending) {
  const follows = nearTheEnd();
  const hadFocus = article.contains(document.activeElement);
  const done = element(ending.html);
  article.replaceWith(done);
  window.htmx?.process(done);
  announce.textContent = ending.words;
  form.querySelector("button").removeAttribute("aria-disabled");
  noteSaved();
  if (hadFocus) box?.focus();
  if (follows) toTheEnd();
}

// ---- what is written and not sent: kept by the server, and in this tab until the server has it

function write() {
  sessionStorage.setItem(draft, box.value);
  clearTimeout(keeping);
  keeping = setTimeout(keep, KEEP_MS);
}

async function keep() {
  clearTimeout(keeping);
  keeping = 0;
  const text = box.value;
  try {
    const answer = await fetch(page.dataset.unsent, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
    if (!answer.ok || answer.redirected || !(await answer.json()).kept) return;
    if (box.value === text) sessionStorage.removeItem(draft);
    noteSaved(page.dataset.textKept);
  } catch {
    offline(true);
    keeping = setTimeout(keep, RETRY_MS);
  }
}

function keepAtTheLast() {
  if (keeping) navigator.sendBeacon(page.dataset.unsent, new FormData(form));
}

// ---- sending

async function send() {
  if (!box.value.trim()) return;
  if (underWay()) return tell(page.dataset.wait);
  tell("");
  clearTimeout(keeping);
  keeping = 0;
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { "X-Part": "turn" } });
  } catch {
    return offline(true);
  }
  offline(false);
  if (answer.redirected || !answer.headers.get("X-Part")) return tell(page.dataset.gone);
  const html = await answer.text();
  if (!answer.ok) return tell(element(html)?.textContent.trim() || page.dataset.failed);
  const article = element(html);
  document.getElementById(article.id)?.remove();
  for (const earlier of log.querySelectorAll("form.retry")) earlier.remove(); // only the last turn can be asked again
  log.append(article);
  window.htmx?.process(article);
  document.getElementById("nothing")?.remove();
  document.getElementById("new-dialogue").hidden = false;
  document.getElementById("note-turn")?.append(new Option(article.dataset.number, article.dataset.number, true, true));
  box.value = "";
  sessionStorage.removeItem(draft);
  form.elements.number.value = Number(article.dataset.number) + 1;
  const count = document.getElementById("turn-of");
  count.textContent = count.dataset.words.replace("{n}", article.dataset.number);
  announce.textContent = "";
  noteSaved();
  toTheEnd();
  if (article.dataset.stream) {
    form.querySelector("button").setAttribute("aria-disabled", "true");
    follow(article);
  }
}

function stop() {
  underWay()?.querySelector("form.stop button")?.click();
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    if (touch.matches && !event.ctrlKey && !event.metaKey) return;
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey;
    const sends = event.ctrlKey || event.metaKey || (page.dataset.enter === "sends" ? plain : event.shiftKey);
    if (sends) {
      event.preventDefault();
      send();
    }
  });
  if (touch.matches) box.removeAttribute("aria-describedby"); // the keys of a real keyboard
  box.addEventListener("input", write);
  window.addEventListener("pagehide", keepAtTheLast);
  box.value = sessionStorage.getItem(draft) || box.value;
  if (sessionStorage.getItem(draft)) keeping = setTimeout(keep, KEEP_MS);
}

for (const article of log.querySelectorAll("article[data-stream]")) {
  form?.querySelector("button").setAttribute("aria-disabled", "true");
  follow(article);
}
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.stop")) return;
  event.preventDefault();
  fetch(event.target.action, { method: "POST", body: new FormData(event.target), headers: { "X-Part": "stop" } }).then(() => offline(false), () => offline(true));
});
window.addEventListener("offline", () => offline(true));
window.addEventListener("online", () => offline(false));

// ---- panels and keys

const task = document.getElementById("task");
const help = document.getElementById("keys");
const wide = window.matchMedia("(min-width: 700px)");
const tools = document.getElementById("tools");
const fold = () => {
  task.open = wide.matches;
  tools.open = wide.matches || !form; // where nothing can be sent, the way onward is in sight
};
fold();
wide.addEventListener("change", fold);

function toggleTask() {
  task.open = !task.open;
  if (task.open) task.querySelector("summary").focus();
}

function openNotes() {
  tools.open = true;
  document.querySelector("details.add").open = true;
  document.getElementById("note-words").focus();
}

keys({
  i: toggleTask,
  m: () => [...log.querySelectorAll("form.mark button")].at(-1)?.click(),
  n: () => document.getElementById("notes") && openNotes(),
  "?": () => help.showModal(),
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (underWay()) return stop();
  const open = document.activeElement?.closest("details[open]");
  if (open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});
for (const button of document.querySelectorAll("[data-opens]")) {
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}

// ---- the clock, and whether everybody pauses

async function look() {
  try {
    const answer = await fetch(page.dataset.state, { headers: { Accept: "application/json" } });
    if (!answer.ok || answer.redirected) return;
    const state = await answer.json();
    if (!underWay()) offline(false);
    document.getElementById("left").textContent = state.left;
    if (state.paused || state.over) location.reload();
    const rest = document.getElementById("rest");
    if (rest) rest.hidden = !state.rest;
    if (state.news) showNews(state.news);
  } catch {
    offline(true);
  }
}
setInterval(look, LOOK_MS);

// ---- messages of the organisers: a banner that blocks nothing, until it is closed

const SEEN = "theodolite.news";
const news = document.getElementById("news");

function showNews({ id, text }) {
  if (String(id) === news.dataset.id && !news.hidden) return;
  news.dataset.id = id;
  document.getElementById("news-text").textContent = text;
  news.hidden = localStorage.getItem(SEEN) === String(id);
}

if (localStorage.getItem(SEEN) === news.dataset.id) news.hidden = true;
document.getElementById("news-close").addEventListener("click", () => {
  localStorage.setItem(SEEN, news.dataset.id);
  news.hidden = true;
});
if (form && csrf()) toTheEnd("instant"); // a page that comes glides nowhere: somebody may be pressing a button on it already
