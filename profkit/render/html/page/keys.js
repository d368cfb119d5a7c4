/* The keys: who registers one says what it does, and the dialog tells all of them. */
{
  const { make } = profkit;
  const keys = [];
  /** Keys of the parts that have their own, for the dialog. */
  const ELSEWHERE = [
    { shown: ["↑", "↓"], what: "In a table or a tree of calls: the row above, below; Home, End" },
    { shown: ["←", "→"], what: "In a tree: close, open; in tabs and curves: move" },
  ];

  /**
   * Register keys, in the names of KeyboardEvent.key: `shown` is what the dialog writes, `action(event)`
   * what they do. Keys of the graph work while it has the focus, others everywhere but where one types.
   */
  profkit.key = (names, shown, what, action, ofGraph = false) =>
    keys.push({ names, shown, what, action, ofGraph });

  /** The button that opens the dialog. */
  profkit.keysButton = () =>
    make("button", { type: "button", class: "icon-button", title: "Keys (?)", click: showKeys },
      make("span", { "aria-hidden": "true" }, "?"), make("span", { class: "off-screen" }, "Keys"));

  /** Listen; `element` is what the keys of the graph belong to. */
  profkit.listenToKeys = (element) => {
    profkit.key(["?"], ["?"], "Show these keys", showKeys);
    element.addEventListener("keydown", (event) => handle(event, (key) => key.ofGraph));
    addEventListener("keydown", (event) => {
      if (!event.defaultPrevented && !isTyping(event.target)) handle(event, (key) => !key.ofGraph);
    });
  };

  function handle(event, applies) {
    if (event.altKey || event.metaKey || event.ctrlKey || document.querySelector("dialog[open]")) return;
    const key = keys.find((each) => applies(each) && each.names.includes(event.key));
    if (!key) return;
    event.preventDefault();
    key.action(event);
  }

  const isTyping = (element) => element instanceof Element && element.matches("input, select, textarea");

  const entry = ({ shown, what }) => [
    make("dt", {}, shown.map((key) => make("kbd", {}, key))),
    make("dd", {}, what),
  ];

  function showKeys() {
    const attributes = { type: "button", class: "icon-button dialog-close", title: "Close (Escape)" };
    const close = make("button", { ...attributes, click: () => dialog.close() },
      make("span", { "aria-hidden": "true" }, "×"), make("span", { class: "off-screen" }, "Close"));
    const dialog = make("dialog", { class: "keys", "aria-labelledby": "keys-title" },
      make("h2", { id: "keys-title" }, "Keys"), close,
      make("dl", {}, [...keys, ...ELSEWHERE].flatMap(entry)),
      make("p", { class: "faint" }, "A click zooms in, a double click out. Ctrl and the wheel, or two ",
        "fingers, zoom where they are; dragging moves."));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}
