// The line to the studio: patches of what is shown come in, wishes go out.

export class Wire {
  constructor() {
    this.shown = {};
    this.listeners = [];
    this.key = null;
    this.socket = null;
    this.waiting = null; // what follows a hand, until the next picture
    this.onstate = () => {};
    this.onconnect = () => {};
  }

  // Call with the parts that have changed, by name.
  listen(listener) {
    this.listeners.push(listener);
  }

  // Connect as the window whose key viser's page has got; again if that changes.
  follow() {
    const look = () => {
      const key = document.querySelector(".armdyn-window")?.dataset.key;
      if (key && key !== this.key) this.connect(key);
    };
    setInterval(look, 60);
    look();
  }

  connect(key) {
    this.key = key;
    this.onconnect();
    this.socket?.close();
    const place = `${location.origin.replace(/^http/, "ws")}/armdyn/socket?window=${key}`;
    const socket = new WebSocket(place);
    this.socket = socket;
    this.shown = {};
    socket.onopen = () => this.onstate(true);
    socket.onclose = () => {
      if (socket === this.socket) this.onstate(false);
    };
    socket.onmessage = (event) => this.take(JSON.parse(event.data));
  }

  take(patches) {
    const changed = new Set();
    for (const [path, value] of patches) {
      changed.add(path[0]);
      let place = this.shown;
      for (const step of path.slice(0, -1)) place = place[step];
      const last = path[path.length - 1];
      if (value === null && !Array.isArray(place)) {
        if (path.length === 1) place[last] = null;
        else delete place[last];
      } else place[last] = value;
    }
    for (const listener of this.listeners) listener(this.shown, changed);
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // The same for values that follow a hand: at once, then only the last one of each picture.
  follows(name, message) {
    if (this.waiting) return void this.waiting.set(name, message);
    this.send(message);
    this.waiting = new Map();
    requestAnimationFrame(() => this.flush());
  }

  flush() {
    const all = [...this.waiting.values()];
    this.waiting = all.length ? new Map() : null;
    for (const message of all) this.send(message);
    if (all.length) requestAnimationFrame(() => this.flush());
  }
}
