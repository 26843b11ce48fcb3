// A waiting page: it checks every few seconds whether the page has changed, and says so.

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
    // not connected; the next check may succeed
  }
}

if (spot) {
  document.querySelector("[data-looks]").hidden = false;
  setInterval(look, LOOK_MS);
}
