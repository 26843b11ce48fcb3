// The panel at the side: where does this number come from?

/** Open the panel for one entry of the list `estimates`. */
function explain(place) {
  const estimate = data.estimates[place];
  const outcomes = Object.entries(estimate.outcomes).map(([name, n]) => `${thousands(n)} ${name.replace("_", " ")}`).join(", ");
  const versions = make("span", {}, ...Object.entries(estimate.versions).flatMap(([name, version]) => [versionLink(name, version), " "]));
  const clusters = estimate.n_clusters ? `${thousands(estimate.n_clusters)} groups of dialogues that resemble each other` : "dialogues taken as independent";
  const panel = byId("panel");
  panel.replaceChildren(
    make("h2", { id: "panel-title", text: estimate.title, tabindex: "-1" }),
    make("p", { class: "legend", text: estimate.subject_text }),
    make("p", { class: "big", text: estimate.text }),
    definitions([
      ["What it is", estimate.definition],
      ["How it is computed", estimate.formula],
      ["What it rests on", outcomes],
      ["Independence", estimate.undefined_reason ? "" : clusters],
      ["Unmeasured", boundsText(estimate)],
      ["By chance alone", estimate.chance === null ? "" : estimate.chance.toFixed(2)],
      ["Unit", estimate.unit],
      ["Method", estimate.method],
      ["Source", estimate.source],
      ["Versions", versions],
      ["In results.json", `estimates[${place}]`],
    ]),
    actsOf(estimate, place),
  );
  panel.showModal();
  byId("panel-title").focus();
}

function boundsText(estimate) {
  if (!estimate.bounds || estimate.n < 10) return "";
  const [low, high] = estimate.bounds.map((bound) => (100 * bound).toFixed(1));
  const unmeasured = estimate.outcomes.planned - estimate.outcomes.used - estimate.outcomes.not_applicable;
  return `had all ${thousands(unmeasured)} not measured been sound, or all defects: ${low} to ${high}%`;
}

function actsOf(estimate, place) {
  const acts = make("div", { class: "acts" });
  if (estimate.set) {
    const n = sizeOf(data.sets[estimate.set]);
    acts.append(make("button", { type: "button", class: "btn sm", text: `Its dialogues (${thousands(n)})`, onclick: () => closeAndShow(estimate.set) }));
  }
  const said = make("span", { class: "legend", role: "status" });
  const text = `${estimate.title}; ${estimate.subject_text}: ${estimate.text} [${data.run}, estimates[${place}]]`;
  const copy = make("button", { type: "button", class: "btn sm", text: "Copy as text", onclick: () => copyText(text, said) });
  const close = make("button", { type: "button", class: "btn sm", text: "Close", onclick: () => byId("panel").close() });
  acts.append(copy, close, said);
  return acts;
}

function closeAndShow(name) {
  byId("panel").close();
  showSet(name);
}

/** Put a text on the clipboard; from a file the old way may be the only one. */
async function copyText(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = make("textarea", { text });
    byId("panel").append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  said.textContent = "Copied.";
}
