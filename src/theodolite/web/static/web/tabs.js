// Tabs of a section that do not fit beside each other scroll; the current one is in view.
// Without scripts the row starts with its first tab, or with the current one in browsers that can.

const row = document.querySelector(".section-tabs");
const current = row?.querySelector("[aria-current]");

if (current) {
  new ResizeObserver(() => {
    const [around, tab] = [row.getBoundingClientRect(), current.getBoundingClientRect()];
    row.scrollBy({ left: tab.left + tab.width / 2 - around.left - around.width / 2, behavior: "instant" });
  }).observe(row);
}
