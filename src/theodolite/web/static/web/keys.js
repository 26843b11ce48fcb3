// Single-letter keys, outside text fields only; one switch of the person's turns them off.

const FIELDS = "input:not([type=button], [type=submit], [type=checkbox], [type=radio]), textarea, select, [contenteditable]";

export const lettersAreOn = () => document.body.dataset.keys !== "off";

/** Call a function for each letter: `keys({m: mark, "?": help})`. */
export function keys(acts) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (!lettersAreOn() || document.querySelector("dialog[open]") || event.target.closest?.(FIELDS)) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
