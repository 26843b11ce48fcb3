// The editor of a study: Ctrl+S, saves without a reload; see editing/text.js for its text view.
// Without it the page is a plain form.

import { LivePreview } from "./editing/preview.js";
import { TextView } from "./editing/text.js";

const form = document.querySelector("[data-editor]");
const text = form.querySelector("[data-text]");
const find = (name) => form.querySelector(`[data-${name}]`);
const view = new TextView({ text, gutter: find("gutter"), message: find("message") });
const preview = new LivePreview(form, find("preview"));
const saved = document.querySelector("#saved");
const IN_PLACE = /^(save|replace:|add_text)/;

let kept = snapshot();
let busy = false;

/** Return everything that a save would send. */
function snapshot() {
  return new URLSearchParams(new FormData(form)).toString();
}

/** Return the first and the last line of the part that the form shows; zeros without a part. */
function block() {
  const part = form.querySelector("[data-from]");
  return part ? [Number(part.dataset.from), Number(part.dataset.to)] : [0, 0];
}

/** Return the button of an entry or a table that is not added yet; null if there is none. */
function pending() {
  if (form.querySelector("[name=group_table]")?.value.trim()) return form.querySelector("[value=new_group]");
  return form.querySelector("[name=new_name]")?.value.trim() ? form.querySelector(".adding button") : null;
}

/** Save without a reload, and show what the server answers. */
async function save(act) {
  if (busy) return;
  busy = true;
  saved.textContent = "Saving ...";
  const body = new FormData(form);
  body.set("act", act);
  const sent = text.value;
  try {
    const reply = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    const answer = await reply.json();
    if (reply.status === 409) {
      busy = false;
      kept = snapshot();
      form.requestSubmit(form.querySelector("button.first")); // the page shows both texts
      return;
    }
    show(answer, sent);
  } catch {
    saved.textContent = "Not saved: no connection. Your text is kept on this page. Save again later.";
  }
  busy = false;
}

function show(answer, sent) {
  if (!answer.is_saved) {
    saved.textContent = answer.problem;
    return;
  }
  const focused = document.activeElement?.id;
  for (const seen of document.querySelectorAll("[data-seen]")) seen.value = answer.version;
  if (text.value === sent && text.value !== answer.text) text.value = answer.text;
  for (const name of ["head", "findings", "side", "form", "versions"]) document.querySelector(`[data-${name}]`).innerHTML = answer[name];
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
  saved.textContent = answer.saved;
  form.removeAttribute("data-unsaved");
  kept = snapshot();
  view.show(...block());
  preview.update();
}

addEventListener("beforeunload", (event) => {
  if (snapshot() !== kept || form.hasAttribute("data-unsaved")) event.preventDefault();
});
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    if (pending()) form.requestSubmit(pending());
    else save("save");
  }
});
form.addEventListener("submit", (event) => {
  if (event.submitter?.formTarget) return; // another tab tries the text; this page keeps it
  const act = event.submitter?.value ?? "save";
  if (IN_PLACE.test(act) && !(act === "save" && pending()) && !event.submitter?.matches(".first")) {
    event.preventDefault();
    save(act);
  } else {
    form.removeAttribute("data-unsaved");
    kept = snapshot();
  }
});
view.show(...block());
preview.update();
const place = /^#line-(\d+)$/.exec(location.hash);
if (place) view.goTo(Number(place[1]));
else if (block()[0]) view.bringIn(block()[0]);
