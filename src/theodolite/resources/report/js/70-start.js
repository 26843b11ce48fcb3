// Everything is wired here, once.

document.documentElement.classList.add("with-script");
applyTheme(storedTheme());

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-estimate], [data-chip], [data-set]");
  if (!target) return;
  const { estimate, chip, set } = target.dataset;
  if (estimate !== undefined) explain(Number(estimate));
  else if (chip || set) showSet(chip || set);
});
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", follow);
window.addEventListener("beforeprint", layOutChosen);
window.addEventListener("afterprint", () => document.body.classList.remove("printing"));
byId("search").addEventListener("input", refill);
byId("more").addEventListener("click", drawPiece);
byId("list").addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) list.current = [...item.parentNode.children].indexOf(item);
});
byId("go-search").addEventListener("click", acts["/"]);
byId("go-theme").addEventListener("click", switchTheme);
byId("go-print").addEventListener("click", () => window.print());
byId("go-help").addEventListener("click", acts["?"]);
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}
showSet("all", { scroll: false });
watcher.observe(byId("more"));
follow();
window.addEventListener("load", follow);
