// The editor of a schema: saves during typing and updates its preview; see editing/text.js for its text view.
// Without it the page is a plain form with the buttons Save and Preview.

import { TextView } from "./editing/text.js";

const WAIT_MS = 900; // after the last letter
const AGAIN_MS = 3000; // after a save that did not arrive

const form = document.querySelector("[data-editor]");
const text = form.querySelector("[data-text]");
const seen = form.querySelector("[data-seen]");
const saved = document.querySelector("#saved");
const find = (selector) => document.querySelector(selector);
const view = new TextView({ text, gutter: find("[data-gutter]"), message: find("[data-message]") });

let kept = text.value;
let busy = false;
let timer = 0;

/** Save what stands in the editor, and show what the server says of it. */
async function save() {
  clearTimeout(timer);
  if (busy || text.value === kept) return;
  busy = true;
  const sent = text.value;
  saved.textContent = "Saving ...";
  try {
    const reply = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
    const answer = await reply.json();
    if (reply.ok) {
      kept = sent;
      show(answer);
    } else {
      saved.textContent = answer.problem;
      kept = sent;
    }
  } catch {
    saved.textContent = "Not saved: no connection. Your text is kept on this page and tried again.";
    timer = setTimeout(save, AGAIN_MS);
  }
  busy = false;
  if (text.value !== sent) timer = setTimeout(save, WAIT_MS);
}

function show(answer) {
  const position = frameState();
  seen.value = answer.revision;
  saved.textContent = `Revision ${answer.revision}, saved ${new Date(answer.saved).toLocaleTimeString("en-GB")}: ${answer.count}`;
  find("[data-findings]").innerHTML = answer.findings;
  find("[data-around]").innerHTML = answer.around;
  find("[data-preview]").innerHTML = answer.preview;
  find("[data-file]").href = answer.file;
  restore(position);
  view.show();
}

/** Return which question the preview shows and how far it is scrolled, to be there again after it is drawn again. */
function frameState() {
  const inside = find("[data-frame]")?.contentDocument;
  return { at: inside?.querySelector(".item.chosen")?.dataset.key ?? "" };
}

function restore({ at }) {
  const frame = find("[data-frame]");
  if (frame && at) frame.src = `${frame.getAttribute("src")}?at=${encodeURIComponent(at)}`;
}

text.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(save, WAIT_MS);
});
addEventListener("beforeunload", (event) => text.value !== kept && event.preventDefault());
form.addEventListener("submit", () => (kept = text.value));

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-show]");
  if (tab) {
    event.preventDefault();
    for (const one of document.querySelectorAll("[data-show]")) one.setAttribute("aria-pressed", String(one === tab));
    find("[data-now]").value = tab.value;
    Object.assign(find("[data-frame]"), { src: tab.dataset.show, title: `Preview of ${tab.value}` });
    find("[data-whole-page]").href = tab.dataset.show;
  }
});

view.show();
