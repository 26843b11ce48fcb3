// The matrix and the pages of a dialogue: a drawer over the table, and keys that follow links.
// Without scripts each link opens the page of its dialogue.
import { keys } from "./keys.js";

const drawer = document.getElementById("drawer");
const rows = [...document.querySelectorAll(".matrix tbody tr")];
let current = -1;

async function openDrawer(link) {
  const address = new URL(link.href);
  address.searchParams.set("part", "drawer");
  const answer = await fetch(address);
  if (!answer.ok || !answer.headers.get("content-type")?.startsWith("text/html")) {
    location.assign(link.href); // the page states what is wrong
    return;
  }
  drawer.innerHTML = await answer.text();
  drawer.querySelector("[data-close]").addEventListener("click", () => drawer.close());
  if (!drawer.open) drawer.showModal();
  drawer.scrollTop = 0;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-drawer]");
  if (!link || !drawer || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  openDrawer(link);
});
drawer?.addEventListener("click", (event) => {
  if (event.target === drawer) drawer.close();
});

function follow(key) {
  document.querySelector(`[data-key="${key}"]`)?.click();
}

function step(by) {
  if (!rows.length) return follow(by > 0 ? "j" : "k");
  rows[current]?.classList.remove("current");
  current = Math.max(0, Math.min(rows.length - 1, current + by));
  rows[current].classList.add("current");
  rows[current].scrollIntoView({ block: "nearest" });
  rows[current].querySelector("a")?.focus({ preventScroll: true });
  return undefined;
}

keys({ j: () => step(1), k: () => step(-1), d: () => follow("d") });
