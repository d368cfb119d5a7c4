/*
 * Regular expressions that are matched in time linear in the text: a page must not freeze on a pattern such
 * as (a+)+b, on which the browser's own expressions take exponential time. The states of an automaton are
 * computed on first use and kept.
 */

import { parsePattern, PatternError } from "./pattern_syntax.js";

/** @import { Edge, Has, Part } from "./pattern_syntax.js" */
/** @typedef {{ has: Has | null, edge: Edge | null, to: number[] }} Step of the nondeterministic automaton */
/** @typedef {{ steps: number[], before: string, next: Map<string, State | true> }} State */
/** @typedef {{ matches: (text: string) => boolean, error?: undefined } | { error: string }} Pattern */

const MAX_STEPS = 1000;
const MAX_STATES = 2000;
/** Step at which a text matches. */
const FOUND = 0;
/** The character before the first line and after the last one. */
const EDGE = "\n";

/**
 * Return a test whether a pattern matches anywhere in a text, ignoring case; or the error in the pattern.
 * @param {string} text
 * @returns {Pattern}
 */
export function compilePattern(text) {
  try {
    return { matches: matcherOf(parsePattern(text)) };
  } catch (error) {
    if (error instanceof PatternError) return { error: error.message };
    throw error;
  }
}

/** @param {Part} part */
function matcherOf(part) {
  /** @type {Step[]} */
  const steps = [{ has: null, edge: null, to: [] }];
  const first = addSteps(steps, part, FOUND);
  /** @type {Map<string, State>} */
  const states = new Map();
  return (/** @type {string} */ text) => {
    if (states.size > MAX_STATES) states.clear();
    /** @type {State} */
    let state = stateOf(states, [first], EDGE);
    for (let at = 0; at <= text.length; at++) {
      const character = at < text.length ? text[at] : EDGE;
      /** @type {State | true} */
      const next = state.next.get(character) ?? follow(steps, states, state, first, character);
      state.next.set(character, next);
      if (next === true) return true;
      state = next;
    }
    return false;
  };
}

/**
 * Add the steps of a part that continues at the step `to`; return its first step.
 * @param {Step[]} steps
 * @param {Part} part
 * @param {number} to
 * @returns {number}
 */
function addSteps(steps, part, to) {
  if (part.kind === "set") return add(steps, { has: part.has, edge: null, to: [to] });
  if (part.kind === "edge") return add(steps, { has: null, edge: part.edge, to: [to] });
  if (part.kind === "sequence") return part.parts.reduceRight((at, each) => addSteps(steps, each, at), to);
  if (part.kind === "repeat") return addRepeat(steps, part, to);
  return add(steps, { has: null, edge: null, to: part.parts.map((each) => addSteps(steps, each, to)) });
}

/**
 * @param {Step[]} steps
 * @param {{ part: Part, least: number, most: number }} repeat
 * @param {number} to
 */
function addRepeat(steps, { part, least, most }, to) {
  let at = to;
  if (most === Infinity) {
    const loop = { has: null, edge: null, to: [to] };
    at = add(steps, loop);
    loop.to.push(addSteps(steps, part, at));
  }
  for (let i = least; i < most && most < Infinity; i++) {
    at = add(steps, { has: null, edge: null, to: [to, addSteps(steps, part, at)] });
  }
  for (let i = 0; i < least; i++) at = addSteps(steps, part, at);
  return at;
}

/**
 * @param {Step[]} steps
 * @param {Step} step
 */
function add(steps, step) {
  if (steps.length >= MAX_STEPS) throw new PatternError("too many repetitions");
  return steps.push(step) - 1;
}

/**
 * Return the state with these steps after a character.
 * @param {Map<string, State>} states
 * @param {number[]} steps
 * @param {string} character
 */
function stateOf(states, steps, character) {
  const before = character === EDGE ? "edge" : isWord(character) ? "word" : "other";
  const key = `${before} ${steps}`;
  const known = states.get(key);
  if (known) return known;
  const state = { steps, before, next: new Map() };
  states.set(key, state);
  return state;
}

/**
 * Return the state after a further character; true if the text before it matches.
 * @param {Step[]} steps
 * @param {Map<string, State>} states
 * @param {State} state
 * @param {number} first
 * @param {string} character
 */
function follow(steps, states, state, first, character) {
  const reached = reach(steps, state, character);
  if (reached.has(FOUND)) return true;
  const next = new Set([first]);
  for (const at of reached) if (steps[at].has?.(character)) next.add(steps[at].to[0]);
  return stateOf(states, [...next].sort((a, b) => a - b), character);
}

/**
 * Return the steps that are reached without a character before `character`.
 * @param {Step[]} steps
 * @param {State} state
 * @param {string} character
 */
function reach(steps, state, character) {
  const reached = new Set(state.steps);
  for (const at of reached) {
    const { has, edge, to } = steps[at];
    if (has || (edge && !isAt(edge, state.before, character))) continue;
    to.forEach((next) => reached.add(next));
  }
  return reached;
}

/**
 * Return whether there is an edge of a line or a word between the last character and the next one.
 * @param {Edge} edge
 * @param {string} before
 * @param {string} character
 */
function isAt(edge, before, character) {
  if (edge === "^") return before === "edge";
  if (edge === "$") return character === EDGE;
  return ((before === "word") !== isWord(character)) === (edge === "b");
}

/** @param {string} character */
const isWord = (character) => /\w/.test(character);
