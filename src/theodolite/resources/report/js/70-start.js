// Everything is wired here, once.

document.documentElement.classList.add("with-script");
applyTheme(storedTheme());

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-estimate], [data-chip], [data-set], [data-cell], [data-heat-group]");
  if (!target) return;
  const { estimate, chip, set, cell, heatGroup } = target.dataset;
  if (cell !== undefined) openCell(Number(cell));
  else if (heatGroup !== undefined) pressGroup(target);
  else if (estimate !== undefined) explain(Number(estimate));
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
if (byId("heat")) {
  byId("heat-search").addEventListener("input", filterHeat);
  byId("heat-sort").addEventListener("change", sortHeat);
}
showSet("all", { scroll: false });
watcher.observe(byId("more"));
if (byId("matrix-more")) {
  byId("matrix-more").addEventListener("click", drawMatrixRows);
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !byId("matrix-more").hidden) drawMatrixRows();
  }, { rootMargin: "400px" }).observe(byId("matrix-more"));
}
follow();
window.addEventListener("load", follow);
