/* What the page shows at the moment: one object, changed in one place, and those who want to know. */
{
  const head = profkit.head;
  const listeners = [];
  /** A comparison is as wide as its side B. */
  const wholeThread = head.kind === "comparison" ? 1 : "all";

  /**
   * run: index; thread: index or "all"; view: "left-heavy" or "chronological"; direction: "icicle" or
   * "flame"; focus: the node that fills the graph's width; range: [from, to] as parts of the whole where
   * the graph shows something else than the focus, or null; cursor: the node that keys and the details
   * are about; selected: a function's index or null; search: text; theme: "auto", "light" or "dark";
   * tab: the id of the panel that is open below the graph, or null for the first; order: the index of the
   * measured order that is told in full.
   */
  profkit.state = {
    run: 0, thread: head.initial?.thread ?? wholeThread, view: "left-heavy", direction: "icicle",
    focus: 0, range: null, cursor: 0, selected: null, search: "", theme: "auto", tab: null,
    order: 0,
  };

  /** The state as it is at first, before anyone has touched anything. */
  profkit.initialState = Object.freeze({ ...profkit.state });

  /** Change the state and tell those whose names changed; `origin` is told to them too. */
  profkit.set = (changes, origin = "page") => {
    const state = profkit.state;
    const all = { ...consequences(changes), ...changes };
    const changed = Object.keys(all).filter((name) => !same(state[name], all[name]));
    changed.forEach((name) => (state[name] = all[name]));
    if (changed.length === 0) return;
    for (const { names, callback } of [...listeners]) {
      if (changed.some((name) => names.has(name))) callback(state, changed, origin);
    }
  };

  /** Call back with (state, changed names, origin) after any of the names has changed: "run thread". */
  profkit.on = (names, callback) => {
    listeners.push({ names: new Set(typeof names === "string" ? names.split(" ") : names), callback });
  };

  /** The run that is shown, as the head describes it; undefined where a page has none. */
  profkit.currentRun = () => head.runs[profkit.state.run];

  /** The tree of the run and thread that are shown. */
  profkit.currentTree = () => profkit.tree(profkit.state.run, profkit.state.thread);

  /** Another run has other nodes; another thread, view or focus shows another part of the width. */
  function consequences(changes) {
    const state = profkit.state;
    const differs = (name) => name in changes && !same(changes[name], state[name]);
    if (differs("run")) return { thread: wholeThread, focus: 0, cursor: 0, range: null };
    if (differs("view")) return { focus: 0, range: null };
    if (differs("thread")) return { focus: isIn(changes.thread, state.focus) ? state.focus : 0, range: null };
    return differs("focus") ? { range: null } : {};
  }

  /** Whether a thread has been in a node of the run that is shown. */
  const isIn = (thread, node) => profkit.tree(profkit.state.run, thread).total[node] > 0;

  function same(a, b) {
    const lists = Array.isArray(a) && Array.isArray(b);
    return a === b || (lists && a.length === b.length && a.every((each, i) => each === b[i]));
  }
}
