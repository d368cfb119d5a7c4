/* Making elements. Text only ever becomes text nodes and attributes: nothing in a profile can be markup. */
{
  const SVG = "http://www.w3.org/2000/svg";

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") element.addEventListener(name, value);
      else if (name === "style") Object.entries(value).forEach(([key, set]) => element.style.setProperty(key, set));
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }

  /**
   * An HTML element. An attribute whose value is a function is a listener of the event of that name, `style`
   * an object of properties; null, undefined and false leave an attribute or a child out.
   */
  profkit.make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

  /** The same, of SVG. */
  profkit.draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /** A button that shows only text. */
  profkit.button = (text, onClick, attributes = {}) =>
    profkit.make("button", { type: "button", click: onClick, ...attributes }, text);
}
