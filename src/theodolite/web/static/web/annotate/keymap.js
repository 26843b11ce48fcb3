// Single keys of a page: they act outside text fields only, one switch turns all of them off, and none destroys.

const SWITCH = "theodolite.keys";
const TEXT = "textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox]):not([type=button]):not([type=submit])";
const NATIVE = "a[href], button, summary";

/** Tell whether single keys act: neither turned off for the account nor on this device. */
export function keysAreOn() {
  return document.body.dataset.keys !== "off" && localStorage.getItem(SWITCH) !== "off";
}

/** Turn the single keys of all pages on or off on this device. */
export function switchKeys(on) {
  localStorage.setItem(SWITCH, on ? "on" : "off");
  document.documentElement.classList.toggle("keys-off", !keysAreOn());
}

/** Return what was pressed as text: `y`, `?`, `Ctrl+Enter`, `Shift+ArrowDown`. */
export function chordOf(event) {
  const command = event.ctrlKey || event.metaKey;
  const shift = event.shiftKey && event.key.length > 1;
  return `${command ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${event.key}`;
}

/**
 * Let keys act.
 *
 * @param {Object<string, function(KeyboardEvent): (boolean|void)>} acts What each key does; `false` leaves it to the browser.
 * @param {Object<string, function(KeyboardEvent): (boolean|void)>} always The same for keys that act in text fields and
 *   with the switch off too: only such as hold Ctrl, and Escape.
 */
export function bindKeys(acts, always = {}) {
  document.documentElement.classList.toggle("keys-off", !keysAreOn());
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const chord = chordOf(event);
    const act = always[chord] ?? (maySingle(event, chord) ? acts[chord] : undefined);
    if (act && act(event) !== false) event.preventDefault();
  });
  for (const box of document.querySelectorAll("[data-keys-switch]")) {
    box.checked = keysAreOn();
    box.addEventListener("change", () => switchKeys(box.checked));
  }
}

function maySingle(event, chord) {
  if (!keysAreOn() || event.target.closest(TEXT)) return false;
  const pressesSomething = chord === "Enter" || chord === " ";
  if (pressesSomething && event.target.closest(NATIVE)) return false;
  return !(chord.includes("Arrow") && event.target.closest("[role=listbox], [role=tablist]"));
}
