/* Light and dark: the system's choice, or the reader's. */
{
  const { make } = profkit;
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const NAMES = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const watchers = [];
  let printing = false;

  /** Whether the page is dark now. Paper is white. */
  profkit.isDark = () =>
    !printing && (profkit.state.theme === "dark" || (profkit.state.theme === "auto" && system.matches));

  /** Call back whenever light has become dark, dark light, or the page is to be printed. */
  profkit.onTheme = (callback) => watchers.push(callback);

  /** The button that goes from the system's choice to light, dark and back. */
  profkit.themeButton = () => {
    const label = make("span", { class: "off-screen" });
    const next = () => profkit.set({ theme: NEXT[profkit.state.theme] });
    const button = make("button", { type: "button", class: "icon-button theme-button", click: next }, label);
    const show = () => {
      label.textContent = button.title = NAMES[profkit.state.theme];
      button.dataset.theme = profkit.state.theme;
    };
    profkit.on("theme", show);
    show();
    return button;
  };

  function tell() {
    document.documentElement.dataset.theme = profkit.state.theme;
    watchers.forEach((callback) => callback(printing));
  }

  function print(now) {
    printing = now;
    tell();
  }

  profkit.whenReady(() => {
    tell();
    profkit.on("theme", tell);
    system.addEventListener("change", tell);
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
  });
}
