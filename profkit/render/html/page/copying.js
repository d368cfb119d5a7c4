/* Copying text: by the clipboard where the browser allows it to a file, else by the older way. */
{
  /** A button that copies `text()` and says so. */
  profkit.copyButton = (name, text) => {
    const button = profkit.button(name, async () => {
      const copied = await copy(text());
      button.textContent = copied ? "Copied" : "The browser does not allow it";
      setTimeout(() => { button.textContent = name; }, 1500);
    }, { class: "quiet", "aria-live": "polite" });
    return button;
  };

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (refused) {
      // Without permission, or not in a secure context: a marked field can still be copied.
      return copyMarked(text);
    }
  }

  function copyMarked(text) {
    const field = profkit.make("textarea", { class: "off-screen", readonly: true, "aria-hidden": "true" }, text);
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}
