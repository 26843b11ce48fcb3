// A button beside each address that is to be handed over: it copies, and says so.

const told = document.getElementById("status");

async function copy(input) {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
  } catch {
    document.execCommand("copy"); // browsers keep the clipboard from pages without https
  }
  told.textContent = `Copied: ${input.getAttribute("aria-label")}`;
}

for (const input of document.querySelectorAll("input[readonly]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${input.getAttribute("aria-label")}`);
  button.addEventListener("click", () => copy(input));
  const pair = document.createElement("span");
  pair.className = "pair";
  input.replaceWith(pair);
  pair.append(input, button);
}
