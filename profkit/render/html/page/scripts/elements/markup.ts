/*
 * Creation of elements. Text becomes only text nodes and attributes, so nothing in a profile can be markup.
 */


type AttributeValue = string | number | boolean | null | undefined;

type Listeners = { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };

type AttributeName =
  | "autocomplete" | "class" | "colspan" | "cx" | "cy" | "d" | "disabled" | "for" | "height" | "hidden"
  | "href" | "id" | "open" | "placeholder" | "points" | "r" | "readonly" | "rel" | "role" | "scope"
  | "spellcheck" | "start" | "tabindex" | "target" | "text-anchor" | "title" | "transform" | "type" | "value"
  | "viewBox" | "width" | "x" | "x1" | "x2" | "y" | "y1" | "y2";

/** Attributes by name, listeners by event, and properties of `style`. */
export type Attributes = Listeners
  & { [Name in AttributeName | `aria-${string}` | `data-${string}`]?: AttributeValue }
  & { style?: Record<string, string | number> };

/** A child of an element; null, undefined and "" are omitted. */
export type Child = Node | string | null | undefined;

export type Children = (Child | Child[])[];

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an HTML element. An attribute with a function as its value is a listener of the event of that
 * name; `style` is an object of properties; null, undefined and false omit an attribute.
 */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Attributes = {}, ...children: Children
) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an SVG element; see `make`. */
export function draw<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag, attributes: Attributes = {}, ...children: Children
) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Return a button with text only. */
export const button = (text: string | Child[], onClick: () => void, attributes: Attributes = {}) =>
  make("button", { type: "button", click: onClick, ...attributes }, text);

function fill<Kind extends HTMLElement | SVGElement>(
  element: Kind, attributes: Attributes, children: Children,
) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (typeof value === "object") setStyle(element, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(isShown));
  return element;
}

function setStyle(element: HTMLElement | SVGElement, properties: Record<string, string | number>) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, String(value));
}

const isShown = (child: Child): child is Node | string =>
  child !== null && child !== undefined && child !== "";
