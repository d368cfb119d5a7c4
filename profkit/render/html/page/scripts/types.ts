/* Types that modules share. */

import type { Activity, ThreadChoice } from "./data/head.ts";

/** Numbers by index, as in typed arrays. */
export interface NumberColumn extends Iterable<number> {
  readonly length: number;
  readonly [index: number]: number;
  keys(): IterableIterator<number>;
  forEach(each: (value: number, index: number) => void): void;
}

export type Range = [from: number, to: number];

/**
 * Nodes of a call tree by index, in preorder. Node 0 is the root; the nodes below n are n + 1 … end[n] - 1.
 * All threads of a run share their nodes.
 */
export interface TreeShape {
  parent: Uint32Array;
  fn: Uint32Array;
  end: Uint32Array;
  depth: Uint16Array;
  /** The node at which each stack ends. */
  leaf: Uint32Array;
  deepest: number;
}

/** A call tree with the weights of a thread and an activity; a node without samples has the total 0. */
export interface CallTree extends TreeShape {
  run: number;
  thread: ThreadChoice;
  activity: Activity;
  self: Float64Array;
  total: Float64Array;
  /** Children of nodes, heaviest first; filled on first use. */
  children: Map<number, number[]>;
}

/** Costs by function; recursion counts once in totals. */
export interface FunctionCosts {
  self: Float64Array;
  total: Float64Array;
  /** The number of nodes that have weight. */
  places: Uint32Array;
  /** Groups of functions, filled on first use. */
  groups: Map<number, CallGroup>;
}

/** Rows of source lines by line and thread; `waiting` parts are empty if no thread waited. */
export interface LineColumns {
  fn: NumberColumn;
  line: NumberColumn;
  thread: NumberColumn;
  self: NumberColumn;
  total: NumberColumn;
  waiting: NumberColumn;
  waitingTotal: NumberColumn;
}

/** A line of a function with its weights. */
export interface LineWeight {
  fn: number;
  line: number;
  self: number;
  total: number;
  /** Other functions with code on the line. */
  others?: number[];
}

/** Nodes of one function with the counted weight of each; `fn` is null below the root. */
export interface CallGroup {
  fn: number | null;
  nodes: number[];
  weights: number[];
  weight: number;
  /** Whether it is the function's self weight among its callees. */
  own?: boolean;
}

/** State of the page. */
export interface State {
  run: number;
  thread: ThreadChoice;
  activity: Activity;
  view: "left-heavy" | "chronological";
  direction: "icicle" | "flame";
  /** Whether straight runs of library calls are drawn as one box. */
  chains: "folded" | "unfolded";
  /** The node that fills the graph's width. */
  focus: number;
  /** The window as fractions of the whole, if it is not the extent of the focus. */
  range: Range | null;
  /** Current node, for keys and details. */
  cursor: number;
  /** The selected function. */
  selected: number | null;
  search: string;
  theme: "auto" | "light" | "dark";
  /** The id of the open tab, null for the first. */
  tab: string | null;
  /** The measured order that is shown in full. */
  order: number;
}

/** Rows of a graph. A box shows one node, or the nodes of a chain. */
export interface Rows {
  /** The row of each node. */
  row: Uint16Array;
  /** The first node of the box that shows a node. */
  head: Uint32Array;
  /** Nodes of chains by their first one. */
  chains: Map<number, number[]>;
  /** Nodes below chains by their first one, heaviest first; filled on first use. */
  callees: Map<number, number[]>;
  /** The topmost node: the root, or its only callee. */
  top: number;
  deepest: number;
}

/** Rows of a graph from `top` on. */
export interface Lane {
  top: number;
  rows: number;
}

/**
 * A layout of a tree along the weights, or the time, from 0 to `total`. A spot is a view-specific number of
 * a box, and the node of a box is its first one.
 */
export interface GraphView {
  tree: CallTree;
  rows: Rows;
  total: number;
  /** The number of rows. */
  height: number;
  /** The spot of the topmost box. */
  top: number;
  /** The row of a spot. */
  row(spot: number): number;
  /** The rows of the lane that has a row: callers are below in each lane of a flame graph. */
  lane(row: number): Lane;
  /** The thread whose lane has a spot; null without lanes. The title of a lane has the node 0. */
  thread(spot: number): number | null;
  node(spot: number): number;
  spotOf(node: number): number;
  extent(spot: number): Range;
  parent(spot: number): number;
  child(spot: number): number;
  sibling(spot: number, step: number): number;
  weight(spot: number): number;
  /** The start of each thread. */
  marks(): { thread: number; at: number }[];
  /** The zero points of the scale. */
  origins(window: Range): number[];
  /** Fill a batch with the visible frames of a window in a range of rows. */
  layout(window: Range, widthPx: number, rows: Range, batch: FrameSink, matches: Uint8Array | null): void;
}

/** A receiver of frames; see `FrameBatch`. */
export interface FrameSink {
  add(x: number, width: number, depth: number, node: number, spot: number): void;
  addMany(x: number, width: number, depth: number, node: number, spot: number, part: number): void;
}

/** A frame that is drawn, in CSS pixels from the canvas's upper left corner. */
export interface DrawnFrame {
  index: number;
  node: number;
  spot: number;
  /** Whether it combines several frames that are too narrow to draw. */
  small: boolean;
  depth: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A map from values to positions. */
export type Scale = (value: number) => number;

/** A column of a table; see `sortableTable`. Without `value` it does not sort. */
export interface Column<Row> {
  id: string;
  title: string;
  hint?: string;
  /** Sort key; null comes last. */
  value?(row: Row): number | string | null;
  /** The cell; those of the first column are row headers. */
  cell(row: Row): HTMLElement;
  /** Whether the first click sorts in ascending order. */
  rising?: boolean;
  /** Whether it is hidden on narrow screens. */
  wide?: boolean;
  /** Whether the title is right-aligned; by default if the first order is descending. */
  number?: boolean;
}

/** A table: `sort` is the id of a column, `step` the initial number of rows. */
export interface TableSpec<Row> {
  caption: string;
  columns: Column<Row>[];
  sort: string;
  /** Key of a row for `mark`; by default the row itself. */
  key?(row: Row): unknown;
  /** Called when a row is picked; the cells of the first column then have a button. */
  pick?(row: Row): void;
  step?: number;
}

/** A panel; `build` fills its element once, when it is first shown. */
export interface Panel {
  id: string;
  title: string;
  build(element: HTMLElement): void;
  applies(): boolean;
}

/** A keyboard shortcut: names as in `KeyboardEvent.key`, and the texts of the dialog. */
export interface Shortcut {
  names: string[];
  shown: string[];
  what: string;
  action(event: KeyboardEvent): void;
  /** Whether it works only while the graph has the focus. */
  ofGraph?: boolean;
}

export type AttributeValue = string | number | boolean | null | undefined;

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
