// What viser's own page lacks: names for screen readers, files that are sent again, and nothing that
// only developers need.

const NAMELESS = "#root input, #root button, #root [role=slider], #root [role=combobox], #root textarea";

export function label() {
  for (const element of document.querySelectorAll(NAMELESS)) {
    // the arrows of a number field are hidden from screen readers: its own keys do what they do
    if (element.dataset.adNamed || element.type === "file" || element.ariaHidden === "true") continue;
    if (named(element)) continue;
    const words = near(element);
    if (words) {
      element.setAttribute("aria-label", words);
      element.dataset.adNamed = "1";
    }
  }
  if (document.title !== "armdyn studio") document.title = "armdyn studio";
}

function named(element) {
  return element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.labels?.length ||
    (element.tagName === "BUTTON" && element.textContent.trim()) || element.title;
}

// The words beside a control: those of its row.
function near(element) {
  if (element.classList.contains("mantine-CloseButton-root")) return "Close this message";
  let place = element.parentElement;
  for (let up = 0; place && up < 8; up++, place = place.parentElement) {
    const words = place.querySelector("label")?.textContent.trim();
    if (words) return words;
  }
  return "";
}

export function watch() {
  // a file that was mended is chosen again, which browsers take for no change
  document.addEventListener("change", ({ target }) => {
    if (target.type === "file") setTimeout(() => { target.value = ""; });
  });
  let asked = false;
  const later = () => {
    if (asked) return;
    asked = true;
    setTimeout(() => {
      asked = false;
      label();
    }, 200);
  };
  new MutationObserver(later).observe(document.body, { childList: true, subtree: true });
  new MutationObserver(later).observe(document.head, { childList: true, subtree: true, characterData: true });
  later();
}
