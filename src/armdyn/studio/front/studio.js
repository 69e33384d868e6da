// The front end of the studio around viser's page.

import { watch } from "./access.js";
import { Address } from "./address.js";
import { make } from "./dom.js";
import { helpButton, tour } from "./help.js";
import { Joints } from "./joints.js";
import { Matrix } from "./matrix.js";
import { phone } from "./phone.js";
import { Timeline } from "./timeline.js";
import { Top } from "./top.js";
import { Wire } from "./wire.js";

const RETRY = 1000; // time between two looks for a studio that has stopped [ms]

const wire = new Wire();
const settings = { kind: "q", scale: "percent", select: (joint) => select(joint) };
const address = new Address(wire, settings);
const top_ = new Top(wire);
const joints = new Joints(wire, settings, helpButton);
const matrix = new Matrix(wire, helpButton);
const timeline = new Timeline(wire, settings, helpButton);
const gone = make("div", { class: "ad-gone armdyn-gone", role: "alertdialog", "aria-label": "The studio has stopped", hidden: true });

document.body.prepend(
  top_.element, top_.fault,
  make("aside", { class: "ad-column", "aria-label": "Joints, torques, mass matrix" }, joints.element, matrix.element),
);
document.body.append(timeline.element, phone(), gone);
document.documentElement.lang = "en";

function select(joint) {
  joints.rows.forEach((row, i) => row.name.setAttribute("aria-pressed", i === joint));
  wire.send({ do: "select", joint });
  timeline.select(joint);
}

// Say in words that the studio has stopped, and come back with it.
let lost = null;
wire.onstate = (connected) => {
  clearTimeout(lost);
  gone.hidden = true;
  if (connected) {
    wire.send({ do: "matrix", shown: matrix.element.open });
    return;
  }
  lost = setTimeout(() => {
    const words = make("p", {}, "Start it again with ", make("code", {}, "armdyn studio"), ". This page then comes back to where it is.");
    gone.replaceChildren(make("h2", {}, "The studio has stopped"), words);
    gone.hidden = false;
    look(words);
  }, 400);
};

async function look(words) {
  if (gone.hidden) return;
  try {
    const answer = await fetch("/armdyn/studio.css", { cache: "no-store" });
    if (answer.ok) return location.reload();
    words.textContent = "A studio runs here again, under another address: open the one that it printed.";
  } catch { /* still away */ }
  setTimeout(() => look(words), RETRY);
}

// Tell when a picture is drawn, so that a slow page gets fewer of them.
wire.listen((shown, changed) => {
  if (changed.has("picture")) requestAnimationFrame(() => wire.send({ do: "drawn", picture: shown.picture }));
});

let first = true;
wire.listen((shown) => {
  if (!first || !shown.torque) return;
  first = false;
  document.documentElement.classList.add("ad-ready");
  tour();
});
document.addEventListener("click", (event) => {
  if (event.target.closest?.("#root [role=tab]")) setTimeout(() => address.keep(), 50);
  const part = event.target.closest?.("[data-part]");
  if (part) wire.send({ do: "part", name: part.dataset.part });
});
watch();
wire.follow();
