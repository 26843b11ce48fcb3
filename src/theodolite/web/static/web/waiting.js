// A page on which people wait: it looks every few seconds whether it would be another one by now, and says that it does.

const LOOK_MS = 10000;
const spot = document.querySelector("[data-waits]");
const heading = () => spot.textContent.trim();

async function look() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const there = page.querySelector("[data-waits]");
    if (answer.redirected || !there || there.textContent.trim() !== heading()) location.reload();
  } catch {
    // not connected; the next look may be
  }
}

if (spot) {
  document.querySelector("[data-looks]").hidden = false;
  setInterval(look, LOOK_MS);
}
