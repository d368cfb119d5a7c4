/* The state in the address: `#run=1&focus=20`. A link shows what its sender saw; back and forward work. */
{
  const NUMBERS = new Set(["run", "focus", "cursor", "selected", "order"]);
  const WORDS = {
    view: ["left-heavy", "chronological"], direction: ["icicle", "flame"], theme: ["auto", "light", "dark"],
  };
  const SILENT = new Set(["search", "range", "cursor", "theme", "tab"]);
  const REST_MS = 250;
  const initial = profkit.initialState;
  let waiting = null;
  let timer = 0;

  /** The fragment that stands for the state, "" for the state as it is at first. */
  profkit.fragmentOf = (state) => {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (value === initial[name] || value === null) continue;
      parts.set(name, name === "range" ? value.map((part) => part.toPrecision(9)).join(",") : value);
    }
    return parts.toString();
  };

  /** The whole state that a fragment stands for; what it does not say, or not rightly, is as at first. */
  profkit.stateOf = (fragment) => {
    const parts = new URLSearchParams(fragment);
    const state = { ...initial };
    for (const [name, text] of parts) {
      if (!Object.hasOwn(initial, name)) continue;
      const value = valueOf(name, text);
      if (value !== undefined) state[name] = value;
    }
    return bounded(state);
  };

  function valueOf(name, text) {
    if (NUMBERS.has(name)) return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
    if (name === "thread") return text === "all" ? text : /^\d{1,5}$/.test(text) ? Number(text) : undefined;
    if (name === "range") return rangeOf(text);
    return Object.hasOwn(WORDS, name) && !WORDS[name].includes(text) ? undefined : text;
  }

  function rangeOf(text) {
    const [from, to] = text.split(",").map(Number);
    return from >= 0 && from < to && to <= 1 ? [from, to] : undefined;
  }

  /** Numbers that the page does not have are as at first: a link may be of another page. */
  function bounded(state) {
    const runs = profkit.head.runs;
    if (state.run >= runs.length) state.run = 0;
    const run = runs[state.run];
    const nodes = run ? profkit.shape(state.run).fn.length : 1;
    if (state.thread !== "all" && !(state.thread < (run?.threads.length ?? 0))) state.thread = initial.thread;
    if (state.focus >= nodes) state.focus = 0;
    if (state.cursor >= nodes) state.cursor = 0;
    if (state.selected >= profkit.head.functions.name.length) state.selected = null;
    if (state.order >= (profkit.head.measured?.orders.length ?? 1)) state.order = 0;
    if (!run?.ordered) state.view = "left-heavy";
    return state;
  }

  /** Put the state into the address: a new entry of the history, or in place for what each step changes. */
  function write(state, changed, origin) {
    // The frame of a notebook has no address of its own.
    if (location.protocol === "about:") return;
    const isStep = (name) => SILENT.has(name) || (name === "selected" && origin === "graph");
    const address = `#${profkit.fragmentOf(state)}`;
    if (changed.every(isStep)) replaceSoon(address);
    else {
      replaceNow();
      if (address !== (location.hash || "#")) history.pushState(null, "", address);
    }
  }

  /** Browsers refuse an address that changes with every movement of the pointer. */
  function replaceSoon(address) {
    waiting = address;
    clearTimeout(timer);
    timer = setTimeout(replaceNow, REST_MS);
  }

  function replaceNow() {
    clearTimeout(timer);
    if (waiting !== null) history.replaceState(null, "", waiting);
    waiting = null;
  }

  function read() {
    waiting = null;
    profkit.set(profkit.stateOf(location.hash.slice(1)), "address");
  }

  profkit.whenReady(() => {
    read();
    profkit.on(Object.keys(initial), (state, changed, origin) => {
      if (origin !== "address") write(state, changed, origin);
    });
    addEventListener("popstate", read);
  });
}
