/* The keys, and the dialog that tells them. */
{
  const { make } = profkit;

  /** Rows of the dialog: keys and what they do. */
  const KEYS = [
    ["/", "Search"],
    ["?", "These keys"],
  ];

  /** The button that opens the dialog. */
  profkit.keysButton = () =>
    make("button", { type: "button", class: "icon-button keys-button", title: "Keys (?)", click: showKeys },
      make("span", { "aria-hidden": "true" }, "?"), make("span", { class: "visually-hidden" }, "Keys"));

  function showKeys() {
    const dialog = make("dialog", { class: "keys", "aria-label": "Keys" },
      make("h2", {}, "Keys"),
      make("dl", {}, KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])));
    document.body.append(dialog);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.showModal();
  }
}
