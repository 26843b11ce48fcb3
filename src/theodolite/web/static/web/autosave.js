// Saves a sheet of questions after each answer, shows when, and opens and closes the questions that follow.
// Without it the sheet is a plain form: "Save" shows it again with what was opened.

const WAIT_MS = 600; // after the last letter of a text
const AGAIN_MS = 3000; // after a save that did not arrive

export function keepSaved(form) {
  const saved = form.querySelector("[data-saved]");
  const left = form.querySelector("[data-left]");
  let timer = 0;
  let running = false;
  let wanted = false;

  function say(words) {
    if (saved && saved.textContent !== words) saved.textContent = words;
  }

  function show(found) {
    const asked = new Set(found.asked);
    for (const box of form.querySelectorAll("[data-field]")) box.hidden = !asked.has(box.dataset.field);
    if (left) left.textContent = found.open ? (found.open === 1 ? form.dataset.sayOne : form.dataset.sayOpen).replace("{n}", found.open) : form.dataset.sayAll;
    if (!found.kept) return;
    const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
    say(form.dataset.saySaved.replace("{time}", time));
  }

  async function save() {
    clearTimeout(timer);
    wanted = true;
    if (running) return;
    running = true;
    while (wanted) {
      wanted = false;
      try {
        const reply = await fetch(form.action || location.href, {
          method: "POST", body: new FormData(form), headers: { "X-Autosave": "1" }, credentials: "same-origin",
        });
        if (!reply.ok) throw new Error(String(reply.status));
        show(await reply.json());
      } catch {
        say(form.dataset.sayLost);
        timer = setTimeout(save, AGAIN_MS);
      }
    }
    running = false;
  }

  form.addEventListener("change", save);
  form.addEventListener("input", (event) => {
    if (event.target.matches("textarea, input[type=number]")) {
      clearTimeout(timer);
      timer = setTimeout(save, WAIT_MS);
    }
  });
}

for (const form of document.querySelectorAll("form[data-autosave]")) keepSaved(form);
