/*
 * Parser of regular expressions: literals, classes, groups, alternatives, repetition, and the edges of lines
 * and words. Backreferences and lookaround are rejected, because they cannot be matched in linear time.
 */

/** @typedef {(character: string) => boolean} Has */
/** @typedef {"^" | "$" | "b" | "B"} Edge */
/**
 * @typedef {{ kind: "set", has: Has } | { kind: "edge", edge: Edge } | { kind: "repeat", part: Part,
 *   least: number, most: number } | { kind: "sequence" | "choice", parts: Part[] }} Part
 */

const MAX_LENGTH = 500;
const MAX_REPEATS = 100;
/** @type {Record<string, RegExp>} */
const CLASSES = {
  d: /\d/, w: /\w/, s: /\s/, D: /\D/, W: /\W/, S: /\S/, n: /\n/, t: /\t/, r: /\r/, f: /\f/, v: /\v/,
};
/** @type {Record<string, [least: number, most: number]>} */
const REPEATS = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] };

/** A pattern that is not valid; the message says why. */
export class PatternError extends Error {}

/** Text of a pattern, with the index of the next character. */
class Reader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** Return the next character; "" at the end. */
  peek() {
    return this.text.charAt(this.at);
  }

  /** Return the next character, and step over it. */
  take() {
    return this.text.charAt(this.at++);
  }

  /**
   * Step over a text if it is next, and return whether it is.
   * @param {string} expected
   */
  skip(expected) {
    const found = this.text.startsWith(expected, this.at);
    if (found) this.at += expected.length;
    return found;
  }
}

/**
 * Parse a pattern; throws PatternError.
 * @param {string} text
 * @returns {Part}
 */
export function parsePattern(text) {
  if (text.length > MAX_LENGTH) throw new PatternError(`longer than ${MAX_LENGTH} characters`);
  const reader = new Reader(text);
  const part = choiceIn(reader);
  if (reader.at < text.length) throw new PatternError("“)” without “(”");
  return part;
}

/**
 * @param {Reader} reader
 * @returns {Part}
 */
function choiceIn(reader) {
  const parts = [sequenceIn(reader)];
  while (reader.skip("|")) parts.push(sequenceIn(reader));
  return parts.length > 1 ? { kind: "choice", parts } : parts[0];
}

/**
 * @param {Reader} reader
 * @returns {Part}
 */
function sequenceIn(reader) {
  const parts = [];
  while (reader.peek() !== "" && !"|)".includes(reader.peek())) parts.push(repeatIn(reader));
  return { kind: "sequence", parts };
}

/**
 * @param {Reader} reader
 * @returns {Part}
 */
function repeatIn(reader) {
  const part = atomIn(reader);
  const bounds = boundsIn(reader);
  if (!bounds) return part;
  // Lazy and greedy repetition match the same texts.
  reader.skip("?");
  if (boundsIn(reader)) throw new PatternError("a repetition is repeated");
  return { kind: "repeat", part, least: bounds[0], most: bounds[1] };
}

/**
 * Return the bounds of a repetition if one is next.
 * @param {Reader} reader
 */
function boundsIn(reader) {
  const next = reader.peek();
  if (next !== "" && Object.hasOwn(REPEATS, next)) return REPEATS[reader.take()];
  const found = /^\{(\d+)(,?)(\d*)\}/.exec(reader.text.slice(reader.at));
  if (!found) return null;
  reader.at += found[0].length;
  const least = Number(found[1]);
  const most = !found[2] ? least : found[3] ? Number(found[3]) : Infinity;
  if (most < least) throw new PatternError(`numbers out of order in ${found[0]}`);
  if (least > MAX_REPEATS || (most > MAX_REPEATS && most < Infinity)) {
    throw new PatternError(`${found[0]} repeats more than ${MAX_REPEATS} times`);
  }
  return [least, most];
}

/**
 * @param {Reader} reader
 * @returns {Part}
 */
function atomIn(reader) {
  const next = reader.take();
  if (next === "(") return groupIn(reader);
  if (next === "[") return { kind: "set", has: classIn(reader) };
  if (next === "\\") return escapeIn(reader);
  if (next === "^" || next === "$") return { kind: "edge", edge: next };
  if (next === ".") return { kind: "set", has: (character) => character !== "\n" };
  if (Object.hasOwn(REPEATS, next)) throw new PatternError(`nothing to repeat before “${next}”`);
  return literal(next);
}

/**
 * @param {Reader} reader
 * @returns {Part}
 */
function groupIn(reader) {
  if (reader.peek() === "?" && !reader.skip("?:")) {
    throw new PatternError("“(?” is only supported in “(?:…)”");
  }
  const part = choiceIn(reader);
  if (!reader.skip(")")) throw new PatternError("“(” without “)”");
  return part;
}

/**
 * @param {Reader} reader
 * @returns {Part}
 */
function escapeIn(reader) {
  const next = reader.take();
  if (next === "b" || next === "B") return { kind: "edge", edge: next };
  const has = escaped(next);
  return typeof has === "string" ? literal(has) : { kind: "set", has };
}

/**
 * Return the class or the character that a letter means after a backslash.
 * @param {string} letter
 * @returns {Has | string}
 */
function escaped(letter) {
  if (letter === "") throw new PatternError("“\\” at the end");
  if (Object.hasOwn(CLASSES, letter)) return (character) => CLASSES[letter].test(character);
  if (/[A-Za-z0-9]/.test(letter)) throw new PatternError(`“\\${letter}” is not supported`);
  return letter;
}

/**
 * @param {Reader} reader
 * @returns {Has}
 */
function classIn(reader) {
  const negated = reader.skip("^");
  /** @type {Has[]} */
  const members = [];
  while (!reader.skip("]")) {
    if (reader.peek() === "") throw new PatternError("“[” without “]”");
    members.push(memberIn(reader));
  }
  return (character) => members.some((has) => anyCase(has)(character)) !== negated;
}

/**
 * Return a range or another member of a class.
 * @param {Reader} reader
 * @returns {Has}
 */
function memberIn(reader) {
  const first = characterIn(reader);
  if (typeof first !== "string") return first;
  const isRange = reader.peek() === "-" && !["]", ""].includes(reader.text.charAt(reader.at + 1));
  if (!isRange) return (character) => character === first;
  reader.take();
  const last = characterIn(reader);
  if (typeof last !== "string" || last < first) throw new PatternError("a range is out of order");
  return (character) => first <= character && character <= last;
}

/** @param {Reader} reader */
function characterIn(reader) {
  const next = reader.take();
  if (next !== "\\") return next;
  return reader.skip("b") ? "\b" : escaped(reader.take());
}

/**
 * @param {string} wanted
 * @returns {Part}
 */
const literal = (wanted) => ({ kind: "set", has: anyCase((character) => character === wanted) });

/**
 * Ignore case: test a character in both cases.
 * @param {Has} has
 * @returns {Has}
 */
const anyCase = (has) => (character) =>
  has(character) || has(character.toLowerCase()) || has(character.toUpperCase());
