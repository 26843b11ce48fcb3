// Tabs that do not fit in one row scroll; the current one is visible.
// Without JavaScript the row starts at its first tab, or at the current one if the browser supports it.

const row = document.querySelector(".section-tabs");
const current = row?.querySelector("[aria-current]");

if (current) {
  new ResizeObserver(() => {
    const [around, tab] = [row.getBoundingClientRect(), current.getBoundingClientRect()];
    row.scrollBy({ left: tab.left + tab.width / 2 - around.left - around.width / 2, behavior: "instant" });
  }).observe(row);
}
