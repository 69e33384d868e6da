// The top of the page: the robot, what matters now, running jobs, what is wrong with the robot.

import { make } from "./dom.js";
import { openHelp, tour } from "./help.js";

export class Top {
  constructor(wire) {
    this.wire = wire;
    this.robot = make("h1", { class: "armdyn-head" });
    this.about = make("span", { class: "ad-about" });
    this.sentence = make("p", { class: "ad-sentence armdyn-sentence", role: "status", "aria-live": "polite" });
    this.jobs = make("ul", { class: "ad-jobs armdyn-status", "aria-label": "Running jobs" });
    const help = () => openHelp(document.querySelector("#root [role=tab][aria-selected=true]")?.textContent.trim());
    this.element = make(
      "header", { class: "ad-top" },
      make("div", { class: "ad-brand" }, make("span", { class: "ad-logo" }, "armdyn studio"), this.robot, this.about),
      this.sentence, this.jobs,
      make("nav", { "aria-label": "Help" },
        make("button", { type: "button", class: "ad-button", onclick: () => tour(true) }, "Tour"),
        make("button", { type: "button", class: "ad-button", onclick: help }, "Help")),
    );
    this.fault = make("div", { class: "ad-fault armdyn-fault", role: "alert", hidden: true });
    wire.listen((shown, changed) => this.take(shown, changed));
  }

  take(shown, changed) {
    if (changed.has("robot")) {
      const { title, about, faults } = shown.robot;
      this.robot.textContent = title;
      this.about.textContent = about;
      this.fault.hidden = !faults.length;
      document.documentElement.classList.toggle("ad-faulty", faults.length > 0);
      const more = faults.length > 1 ? ` (and ${faults.length - 1} more, see the tab Robot)` : "";
      this.fault.replaceChildren(make("b", {}, "This robot cannot exist as it is described. "), `${faults[0]}${more}. Every number and export is affected.`);
      this.fault.title = faults.join("\n");
    }
    if (changed.has("said")) {
      if (this.sentence.textContent !== shown.said.text) this.sentence.textContent = shown.said.text;
      this.sentence.dataset.level = shown.said.level;
    }
    if (changed.has("jobs")) this.list(shown.jobs ?? []);
    if (changed.has("dark")) document.documentElement.dataset.dark = shown.dark;
  }

  list(jobs) {
    this.jobs.replaceChildren(...jobs.map((job) => make(
      "li", {}, make("span", { class: "ad-spin" }), make("span", {}, `${job.step} …`),
      make("button", {
        type: "button", class: "ad-button", "aria-label": `Cancel: ${job.step}`, title: job.of,
        onclick: () => this.wire.send({ do: "cancel", job: job.id }),
      }, "Cancel"),
    )));
  }
}
