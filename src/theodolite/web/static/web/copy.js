// A button beside each address that is to be handed over: it copies, and says so.

const status = document.getElementById("status");

function button(text, label, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", action);
  return made;
}

async function copy(input) {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
  } catch {
    document.execCommand("copy"); // browsers keep the clipboard from pages without https
  }
  status.textContent = `Copied: ${input.getAttribute("aria-label")}`;
}

for (const input of document.querySelectorAll("input[readonly]")) {
  const label = `Copy: ${input.getAttribute("aria-label")}`;
  const pair = document.createElement("span");
  pair.className = "pair";
  input.replaceWith(pair);
  pair.append(input, button("Copy", label, () => copy(input)));
}

for (const text of document.querySelectorAll("textarea[readonly]")) {
  const acts = document.querySelector("#invitations .acts");
  const fold = text.closest("details");
  acts.prepend(
    button("Copy all links", "Copy all links", async () => {
      fold.open = true;
      await copy(text);
    }),
  );
}
