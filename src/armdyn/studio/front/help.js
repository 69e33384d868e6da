// Help for each panel, and a short tour at the first visit.

import { make } from "./dom.js";

export const HELP = {
  joints: ["Joints and torques", "Move a joint with its slider, or type a number: 1e-2 and 30° are understood, and arrow keys work. The bar below is the torque that its motor gives now, split into its terms: to the right of the middle they are positive, to the left negative. The mark below the bar is their sum. Bars end at the limit of the motor, or, on the other scale, at one torque for all joints; thin red lines are limits. A motor that needs more than it has is red. What the tool holds is at the bottom."],
  matrix: ["Mass matrix", "How much torque at one joint an acceleration of another one takes. Blue elements are positive, orange ones negative. Of a robot with many joints, point at an element to read it, or open the table."],
  timeline: ["Timeline", "The torque of one joint over time, its terms stacked, for what is held now. Click to go to a time, drag to move, turn the wheel or press + and − to zoom, double-click for the whole motion. With the keyboard: arrows, Home and End, space to play. Red bands are beyond the limit of the motor. Of a log, the dashed line is what was measured."],
  Move: ["Move", "What is drawn beside the links: axes, centres of mass, inertias, forces, frames. Poses put the arm somewhere in one step."],
  Play: ["Play", "A motion: from here to the other side and back, a simulation in which the limits of the joints are stops, a trajectory file, or a log of the real arm. It is played on the arm, with its torques in the timeline."],
  Study: ["Study", "How many multiplications and additions each formulation takes for this robot, and which elements of its equations are zero or constant, and why."],
  Design: ["Design", "The smallest change of masses and centres of mass that makes the dynamics simple, or why there is none."],
  Robot: ["Robot", "Another robot of the catalog or of a file, what is suspicious in it, and files to take away: C code, the description, tables, pictures."],
};

const TOUR = [
  [".ad-sentence", "What matters now", "This sentence names the motor that is used most, and why."],
  [".ad-joints", "Move and see", "Drag a slider or type a number. The bar below is the torque, split into its terms."],
  [".ad-held", "Hold something", "A payload at the tool is in every number, plot and export."],
  ["#root [role=tablist]", "Go on", "Play motions, study the equations, search designs, open your own robot."],
];
const SEEN = "armdyn-studio-tour";

// A button that opens the help of a panel.
export function helpButton(panel) {
  const [title] = HELP[panel];
  return make("button", {
    type: "button", class: "ad-help", "aria-label": `Help: ${title}`, title: `Help: ${title}`,
    onclick: (event) => {
      event.preventDefault();
      openHelp(panel);
    },
  }, "?");
}

let dialog = null;

export function openHelp(panel) {
  dialog ??= document.body.appendChild(make(
    "dialog", { class: "ad-dialog", "aria-label": "Help" },
    make("form", { method: "dialog" }, make("h2", {}, "Help"), make("button", { class: "ad-button" }, "Close")),
    make("div", { class: "ad-scroll", tabindex: "0" }, ...Object.entries(HELP).map(([name, [title, text]]) =>
      make("section", { "data-help": name }, make("h3", {}, title), make("p", {}, text)))),
  ));
  for (const section of dialog.querySelectorAll("section")) section.classList.toggle("ad-chosen", section.dataset.help === panel);
  dialog.showModal();
  dialog.querySelector(".ad-chosen")?.scrollIntoView({ block: "nearest" });
}

export function tour(again = false) {
  const seen = () => {
    try {
      return localStorage.getItem(SEEN);
    } catch {
      return "no storage";
    }
  };
  if (document.querySelector(".ad-tour") || (!again && seen())) return;
  let step = 0;
  const title = make("h3"), text = make("p"), count = make("span", { class: "ad-count" });
  const next = make("button", { type: "button", class: "ad-button ad-main", onclick: () => go(step + 1) }, "Next");
  const skip = make("button", { type: "button", class: "ad-button", onclick: () => end() }, "Skip the tour");
  const card = make("div", { class: "ad-tour", role: "dialog", "aria-label": "Tour" }, title, text, make("div", { class: "ad-tour-foot" }, count, skip, next));
  const mark = (on) => document.querySelector(TOUR[step]?.[0])?.classList.toggle("ad-pointed", on);
  const end = () => {
    mark(false);
    card.remove();
    try {
      localStorage.setItem(SEEN, "seen");
    } catch { /* a page without storage has the tour each time */ }
  };
  const go = (to) => {
    mark(false);
    step = to;
    if (step >= TOUR.length) return end();
    [, title.textContent, text.textContent] = TOUR[step];
    count.textContent = `${step + 1} of ${TOUR.length}`;
    next.textContent = step === TOUR.length - 1 ? "Done" : "Next";
    mark(true);
  };
  document.body.append(card);
  go(0);
}
