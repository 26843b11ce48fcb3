// The adjudication workspace: one dispute at a time, decided by keys; saved in place, and the next one follows.

import { keys } from "./keys.js";

const find = (selector) => document.querySelector(`#workspace ${selector}`);
document.documentElement.classList.add("with-script");

/** Choose the decision of a key, or open the other answers. */
function decide(key) {
  const field = find(`input[data-key="${key}"]`);
  if (field) {
    field.checked = true;
    field.focus({ preventScroll: true });
  }
  const others = find(`details[data-key="${key}"]`);
  if (others) {
    others.open = true;
    others.querySelector("input").focus();
  }
}

/** Open the form of a gold item at its first field. */
function openGold() {
  const gold = document.getElementById("gold");
  if (!gold) return;
  gold.open = true;
  gold.querySelector("#gold-why").focus();
}

/** Save the decision, or press the only button that leads on. */
function save() {
  const button = find("[data-save]");
  const form = find("#decision");
  if (form && form.querySelector("input[name=found]:checked") && isChanged(form)) form.requestSubmit();
  else button?.click();
}

/** Tell whether a decision differs from the recorded one, which is the page's own. */
function isChanged(form) {
  const chosen = form.querySelector("input[name=found]:checked");
  return !chosen.defaultChecked || Boolean(form.elements.rationale.value.trim());
}

keys({
  ...Object.fromEntries([..."123456789"].map((key) => [key, () => decide(key)])),
  t: () => find("#rationale")?.focus(),
  "[": () => find("[data-previous]")?.click(),
  "]": () => find("[data-following]")?.click(),
  z: () => document.querySelector("[data-undo]")?.click(),
  g: openGold,
  c: () => document.querySelector("[data-calibration]")?.click(),
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
  if (event.target.closest("a[href], button, summary, input:not([type=radio]):not([type=checkbox])")) return;
  if (event.target.matches("textarea") && !(event.ctrlKey || event.metaKey)) return;
  if (document.body.dataset.keys === "off" && !event.target.closest("#decision")) return;
  event.preventDefault();
  save();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-gold]")) openGold();
  const recent = event.target.closest("[data-recent]");
  if (recent) find("#rationale").value = recent.textContent;
});

document.addEventListener("change", (event) => {
  if (event.target.name === "found") needRationale();
});

/** A rationale is required unless an annotator gave the chosen answer. */
function needRationale() {
  const chosen = find("input[name=found]:checked");
  const field = find("#rationale");
  if (field) field.required = Boolean(chosen) && !("optional" in chosen.dataset);
}

/** Lead to the question of each dispute that takes the place of another. */
const workspaces = new MutationObserver(() => find("#question")?.focus({ preventScroll: true }));
workspaces.observe(document.getElementById("workspace").parentElement, { childList: true });
/** Keep the decision where the answer is another page: the sign-in page, or a refusal with its message. */
document.addEventListener("htmx:beforeSwap", (event) => {
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  if (page.getElementById("workspace")) return;
  event.detail.shouldSwap = false;
  say(page.getElementById("status")?.textContent.trim() || "Not saved: you are signed out. Your decision is kept here. Sign in again in another tab.");
});
document.addEventListener("htmx:sendError", () => say("Not saved: no connection. Your decision is kept here; save it again."));
document.addEventListener("htmx:responseError", () => say("Not saved. Your decision is kept here; save it again."));

function say(words) {
  document.getElementById("status").textContent = words;
}
