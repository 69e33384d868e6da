// A phone shows one part of the page at a time: joints, the arm, or the tabs.

import { make } from "./dom.js";

const VIEWS = { joints: "Torques", arm: "Arm", tools: "Tools" };

export function phone() {
  const nav = make("nav", { class: "ad-views", "aria-label": "Part of the page" });
  const look = (view) => {
    document.documentElement.dataset.view = view;
    for (const button of nav.children) button.setAttribute("aria-pressed", button.dataset.view === view);
    window.dispatchEvent(new Event("resize"));
  };
  nav.append(...Object.entries(VIEWS).map(([view, word]) =>
    make("button", { type: "button", "data-view": view, onclick: () => look(view) }, word)));
  look("joints");
  return nav;
}
