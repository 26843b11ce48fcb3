// Keys of the coding page: digits tick codes, m goes to the memo, s saves.

import {keys} from "./keys.js";

const form = document.querySelector("form.wide");
const acts = {
  m: () => document.getElementById("memo")?.focus(),
  s: () => form?.requestSubmit(),
};
for (const box of document.querySelectorAll("input[data-key]")) {
  acts[box.dataset.key] = () => {
    if (box.disabled || box.closest("fieldset")?.disabled) return;
    box.checked = !box.checked;
    box.focus();
  };
}
if (form && !form.querySelector("fieldset")?.disabled) keys(acts);
