/* The tabs below the graph: one panel at a time, built when it is first opened. */
{
  const { make } = profkit;

  /** Fill an element with a list of tabs and their panels; `state.tab` says which one is open. */
  profkit.buildTabs = (element, panels) => {
    if (panels.length === 0) return;
    const tabs = panels.map((panel) => tab(panel));
    const onKey = (event) => walk(event, tabs);
    const list = make("div", { class: "tab-list", role: "tablist", "aria-label": "Tables", keydown: onKey },
      tabs.map((each) => each.button));
    element.append(list, ...tabs.map((each) => each.body));
    const open = () => show(tabs, tabs.find((each) => each.panel.id === profkit.state.tab) ?? tabs[0]);
    profkit.on("tab", open);
    profkit.onTheme((printing) => printing && tabs.forEach(build));
    open();
  };

  function tab(panel) {
    const button = make("button", {
      type: "button", role: "tab", id: `tab-${panel.id}`, "aria-controls": `panel-${panel.id}`,
      click: () => profkit.set({ tab: panel.id }),
    }, panel.title);
    const content = make("div", { class: "panel-body" });
    const body = make("div", {
      class: `panel panel-${panel.id}`, role: "tabpanel", id: `panel-${panel.id}`,
      "aria-labelledby": `tab-${panel.id}`,
    }, make("h2", { class: "print-only" }, panel.title), content);
    return { panel, button, body, content, built: false };
  }

  function show(tabs, open) {
    for (const each of tabs) {
      const selected = each === open;
      each.button.setAttribute("aria-selected", String(selected));
      each.button.tabIndex = selected ? 0 : -1;
      each.body.hidden = !selected;
    }
    build(open);
  }

  function build(tab) {
    if (tab.built) return;
    tab.built = true;
    tab.panel.build(tab.content);
  }

  function walk(event, tabs) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((each) => each.button === document.activeElement);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    profkit.set({ tab: next.panel.id });
    next.button.focus();
  }
}
