/*
 * Creation of elements. Text becomes only text nodes and attributes, so nothing in a profile can be markup.
 */

/** @import { Attributes, Child, Children } from "../types.js" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an HTML element. An attribute with a function as its value is a listener of the event of that
 * name; `style` is an object of properties; null, undefined and false omit an attribute.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Children} children
 */
export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/**
 * Return an SVG element; see `make`.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Children} children
 */
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/**
 * Return a button with text only.
 * @param {string | Child[]} text
 * @param {() => void} onClick
 * @param {Attributes} attributes
 */
export const button = (text, onClick, attributes = {}) =>
  make("button", { type: "button", click: onClick, ...attributes }, text);

/**
 * @template {HTMLElement | SVGElement} Kind
 * @param {Kind} element
 * @param {Attributes} attributes
 * @param {Children} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, /** @type {EventListener} */ (value));
    else if (typeof value === "object") setStyle(element, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(isShown));
  return element;
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {Record<string, string | number>} properties
 */
function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, String(value));
}

/**
 * @param {Child} child
 * @returns {child is Node | string}
 */
const isShown = (child) => child !== null && child !== undefined && child !== "";
