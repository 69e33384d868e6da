// The address keeps the state, so that a reload or a link comes back to it.

import { KINDS } from "./joints.js";

const PAUSE = 250; // time between two changes of the address [ms]
const ARRIVAL = 60000; // time after which a link that led nowhere is forgotten [ms]

export class Address {
  constructor(wire, settings) {
    Object.assign(this, { wire, settings, restored: false, timer: null });
    this.kept = window.armdynAddress;
    this.given = new URLSearchParams(this.kept.slice(1));
    if (KINDS[this.given.get("kind")]) settings.kind = this.given.get("kind");
    if (["percent", "torque"].includes(this.given.get("scale"))) settings.scale = this.given.get("scale");
    // a window that was lost comes back as another one, in the state that the address has kept
    wire.onconnect = () => {
      this.restored = false;
      this.given = new URLSearchParams(this.kept.slice(1));
      if (this.kept) history.replaceState(null, "", this.kept);
    };
    // another link in the same tab
    window.addEventListener("hashchange", () => {
      this.kept = location.hash;
      this.given = new URLSearchParams(this.kept.slice(1));
      this.restore();
    });
    wire.listen((shown) => {
      this.shown = shown;
      if (!this.restored && shown.robot && shown.state) this.restore();
      else if (this.restored && this.arrived()) this.timer ??= setTimeout(() => this.keep(), PAUSE);
    });
  }

  // Whether the robot of the link is there: until then the address stays, for a window may be lost on the way.
  arrived() {
    if (this.shown.robot?.source === this.awaited || Date.now() > this.latest) this.awaited = null;
    return this.awaited === null;
  }

  restore() {
    this.restored = true;
    const given = this.given;
    this.awaited = given.get("robot");
    this.latest = Date.now() + ARRIVAL;
    if (!this.awaited) return;
    const rows = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, (given.get(kind) ?? "").split(",").map(Number)]));
    this.wire.send({
      do: "restore", robot: given.get("robot"), catalog: given.get("file") !== "1",
      payload: Number(given.get("kg") ?? 0), memory: given.get("memory"), ...rows,
    });
    if (given.has("dark")) this.wire.send({ do: "dark", dark: given.get("dark") === "1" });
    this.tab(given.get("tab"));
  }

  tab(name) {
    if (!name) return;
    for (const tab of document.querySelectorAll("#root [role=tab]")) if (tab.textContent.trim() === name) press(tab);
  }

  keep() {
    this.timer = null;
    const { robot, state, dark, memory } = this.shown;
    if (!robot || !state) return;
    const row = (values) => values.map((value) => Number(value.toFixed(5))).join(",");
    const parts = { robot: robot.source, ...Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, row(state[kind])])) };
    if (!robot.catalog) parts.file = 1;
    if (state.payload) parts.kg = state.payload;
    const tab = document.querySelector("#root [role=tab][aria-selected=true]")?.textContent.trim();
    Object.assign(parts, { kind: this.settings.kind, scale: this.settings.scale, dark: dark ? 1 : 0, memory }, tab ? { tab } : {});
    const text = Object.entries(parts).map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
    this.kept = `#${text}`;
    history.replaceState(null, "", this.kept);
  }
}

// The tabs of viser are pressed by a pointer or a key, not by a click alone.
function press(tab) {
  const how = { bubbles: true, cancelable: true, button: 0, pointerId: 1, isPrimary: true };
  for (const kind of ["pointerdown", "pointerup"]) tab.dispatchEvent(new PointerEvent(kind, how));
  tab.click();
  tab.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}
