// Help for each panel, and a short tour at the first visit.

import { make } from "./dom.js";

export const HELP = {
  joints: ["Joints and torques", "Move a joint with its slider, or type a number: 1e-2 and 30° are understood, and arrow keys work. The bar below is the torque that its motor gives now, split into its terms: to the right of the middle they are positive, to the left negative. The mark below the bar is their sum. Bars end at the limit of the motor, or, on the other scale, at one torque for all joints; thin red lines are limits. A motor that needs more than it has is red. What the tool holds is at the bottom."],
  matrix: ["Mass matrix", "How much torque at one joint an acceleration of another one takes. Blue elements are positive, orange ones negative. Of a robot with many joints, point at an element to read it, or open the table."],
  timeline: ["Timeline", "The torque of one joint over time, its terms stacked, for what is held now. Click to go to a time, drag to take the arm through the motion, turn the wheel or press + and − to zoom, double-click for the whole motion; drag with Shift to move the part that is seen. Dots mark the greatest and the least torque. With the keyboard: arrows, Home and End, space to play. Red bands are beyond the limit of the motor. Of a log, the dashed line is what was measured."],
  Move: ["Move", "What is drawn beside the links: axes, centres of mass, inertias, forces, frames. Poses put the arm somewhere in one step. By hand: drag a link to turn its joint, or tick “drag the tool” and pull the tool by its handle. Ctrl+Z takes a move back, Ctrl+Shift+Z brings it again. A pose that is kept stays in the list, and in a project."],
  Play: ["Play", "A motion: from here to the other side and back, a simulation in which the limits of the joints are stops, a trajectory file, or a log of the real arm. It is played on the arm, with its torques in the timeline."],
  Equation: ["Equation", "The equation of one joint: its terms in the colours of the bars, with the numbers of this state. Choose a joint here, by its name on the left, or by a click on its link. “Write out its terms and zeros” gives each term in symbols and with numbers; click a zero to read why it is one. “Formulations side by side” shows the law of every formulation, what it costs, and that all give the same torque."],
  Study: ["Study", "How many multiplications and additions each formulation takes for this robot, and which elements of its equations are zero or constant, and why. The worst case is the position, speed and payload that ask most of each motor, with what is left in percent; the map shows the motor that works hardest over two joints."],
  Edit: ["Edit", "Press a link of the tree, or choose it by name, and write other numbers: mass, centre of mass, tensor or a shape, friction, rotor, gear, limits. 1e-2 is understood; three numbers have spaces between them. The bars show the torque before and after. “Use these numbers” goes on with the edited arm; the original can be compared and comes back with one press."],
  Design: ["Design", "The smallest change of masses and centres of mass that makes the dynamics simple, or why there is none. The new arm stands beside the old one, with counterweights and mass centres as balls of steel, and the torques of both. A goal that is not reached is said to be missed."],
  Robot: ["Robot", "Another robot of the catalog or of a file; a zip brings its meshes. What is suspicious in it. Files to take away: a report as one page, a film of the motion, C code, the description, tables, pictures. A project has robot, state and poses, to go on another day."],
};

const TOUR = [
  [".ad-sentence", "What matters now", "This sentence names the motor that is used most, and why."],
  [".ad-joints", "Move and see", "Drag a slider or type a number. The bar below is the torque, split into its terms."],
  [".ad-held", "Hold something", "A payload at the tool is in every number, plot and export."],
  [".ad-views, #root [role=tablist]", "Go on", "Play motions, study the equations, search designs, open your own robot."],
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
  const mark = (on) => {
    const there = [...document.querySelectorAll(TOUR[step]?.[0] ?? "ad-none")].find((place) => place.offsetParent || place.offsetWidth);
    there?.classList.toggle("ad-pointed", on);
    if (on) there?.scrollIntoView({ block: "nearest" });
  };
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
