/* Data that document.py embeds in the page: a head in JSON, and packed columns of numbers. */

import type { Kind, Value } from "../elements/sortable_table.ts";

/** Numbers by index, as in typed arrays. */
export interface NumberColumn extends Iterable<number> {
  readonly length: number;
  readonly [index: number]: number;
  keys(): IterableIterator<number>;
  forEach(each: (value: number, index: number) => void): void;
}

export type Range = [from: number, to: number];

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
let buffer = new ArrayBuffer(0);

export const head: Head = JSON.parse(textOf("profkit-head"));

const { comparison = null } = head;

/** The comparison of sampled runs; null on other pages. */
export const sampledComparison: SampledComparison | null =
  comparison && "functions" in comparison ? comparison : null;

/** The comparison of measured runs; null on other pages. */
export const measuredComparison: MeasuredComparison | null =
  comparison && "orders" in comparison ? comparison : null;

/** The differences of functions between sampled sides, by function; empty on other pages. */
export const changes: Map<number, ChangedFunction> =
  new Map((sampledComparison?.functions ?? []).map((each) => [each.function, each]));

/** Unpack all columns for `column`, and remove the packed text, which is large. */
export async function unpackColumns() {
  const packed = bytesOf(textOf("profkit-columns"));
  document.getElementById("profkit-columns")?.remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  buffer = await new Response(stream).arrayBuffer();
}

/** Return a column as a typed array; empty if the page does not have it. */
export function column(name: string): NumberColumn {
  const place = head.columns[name];
  return place ? new KINDS[place.kind](buffer, place.offset, place.count) : new Uint32Array(0);
}

function textOf(id: string) {
  return document.getElementById(id)?.textContent ?? "";
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The JSON head of a page. */
export interface Head {
  schema: "profkit.page/1";
  /** The version of profkit that wrote the page. */
  profkit: string;
  kind: "sampled" | "comparison" | "measured" | "history";
  title: string;
  /** The places of the packed columns by name. */
  columns: Record<string, ColumnPlace>;
  functions: FunctionColumns;
  packages: Package[];
  runs: Run[];
  initial?: { thread?: ThreadChoice; sort?: "self" | "total" | "name"; activity?: Activity };
  measured?: { facts: Fact[]; orders: Order[] };
  comparison?: SampledComparison | MeasuredComparison;
  history?: Series & { more?: Series[] };
}

interface ColumnPlace {
  kind: "u8" | "u16" | "u32" | "f64";
  offset: number;
  count: number;
}

/** Functions by index; `package` is an index too. */
interface FunctionColumns {
  name: string[];
  file: string[];
  line: number[];
  package: number[];
}

export interface Package {
  name: string;
  kind: PackageKind;
}

export type PackageKind = "user" | "library" | "native" | "none";

/** A run with stacks; its columns have the prefix `r` and its index. */
export interface Run {
  id: string;
  label: string;
  facts: Fact[];
  unit: string;
  /** Seconds per unit of weight if weights are times. */
  weight_s: number | null;
  total: number;
  /** The part of the total in which threads waited. */
  waiting: number;
  /** Sentences about all samples, the most important first. */
  summary?: string[];
  /** The same by thread and activity; threads with few samples are missing. */
  summaries?: Record<ThreadChoice, Partial<Record<Activity, string[]>> | undefined>;
  /** Whether the order of its samples is known. */
  ordered: boolean;
  threads: Thread[];
  resources?: Resources | null;
  /** Contents of the panels of tables, by panel. */
  tables?: Record<string, Block[] | undefined>;
  /** Source excerpts by function index. */
  source?: Record<string, { first: number; lines: string[] }>;
  notes?: string[];
}

export interface Thread {
  name: string;
  pid: number;
  tid: number | null;
}

/** The index of a thread, or all of them. */
export type ThreadChoice = number | "all";

/** All samples, or those in which a thread worked, or waited. */
export type Activity = "all" | "working" | "waiting";

/** A name, and parts of text and tone. */
export type Fact = [name: string, parts: [text: string, tone: string][]];

/** CPU, memory and threads over time; `cpu_share` has one value per interval between points. */
export interface Resources {
  at_s: number[];
  cpu_share: number[];
  rss_bytes: number[];
  threads: number[];
}

/** A part of a panel: a paragraph, a hint, a title, or a table. */
export type Block = { text: string } | { hint: string } | { title: string, remark: string } | DataTable;

/** A table with the values of its cells; columns say how values are written. */
interface DataTable {
  caption: string;
  sort: string;
  step: number;
  columns: [id: string, title: string, kind: Kind][];
  rows: Value[][];
}

/** A measured work order. */
export interface Order {
  id: string;
  label: string;
  what: string;
  variant: string;
  facts?: Fact[];
  /** The index of the run with its calls, if they were counted. */
  run?: number | null;
  timing: Timing | null;
  counts: Counts | null;
  warnings: string[];
  error: string | null;
}

/** Times per execution, block by block. */
export interface Timing {
  /** Executions per block. */
  number: number;
  /** Times of blocks by process. */
  processes: number[][];
  /** The zygote of each process. */
  zygotes: number[];
  /** Whether these are executions of a whole program, each a process of its own; all are in one list. */
  program: boolean;
  median_s: number;
  low_s: number | null;
  high_s: number | null;
  min_s: number;
}

/** Instruction counts per execution. */
export interface Counts {
  net: number;
  stripped: number;
  raw: number[];
  baseline: number;
  functions: CountedFunction[];
  python: PythonCounts | null;
}

/** Counts by Python function, from a run of their own. */
export interface PythonCounts {
  net: number;
  functions: CountedFunction[];
  /** How they were counted, or why there are none. */
  note: string;
}

export type CountedFunction = [name: string, exclusive: number, inclusive: number, calls: number];

export interface Sides<T> {
  a: T;
  b: T;
}

export interface SampledComparison {
  headline: string;
  grade: string;
  names: Sides<string>;
  /** Their labels, numbers of runs, samples, dates and commits. */
  sides: Sides<string>;
  per_call_s: Sides<number | null> & { change: Change | null };
  /** The sentence on differences that can go unseen. */
  unseen: string;
  functions: ChangedFunction[];
  warnings?: string[];
  notes?: string[];
}

export type Change = "more" | "less" | "noise";

/**
 * The share (`of`: self or total) of a function on both sides, half the interval of each, and the interval of
 * the difference.
 */
export interface ChangedFunction extends Sides<number> {
  function: number;
  of: "self" | "total";
  halves: Sides<number>;
  low: number | null;
  high: number | null;
  change: Change;
}

interface MeasuredComparison {
  headline: string;
  names: Sides<string>;
  orders: ComparedOrder[];
  warnings?: string[];
  notes?: string[];
}

/** Times of B as a ratio to those of A, and the difference in instructions. */
export interface ComparedOrder extends Sides<Timing | null> {
  label: string;
  ratio: number | null;
  low: number | null;
  high: number | null;
  verdict: string;
  /** The verdict, with the side that it is about. */
  words: string;
  sentence: string;
  delta?: InstructionDelta[];
  /** Python functions that differ. */
  python?: InstructionDelta[];
}

export type InstructionDelta = [name: string, a: number, b: number, delta: number];

/** The history of a label in one quantity. */
export interface Series {
  label: string;
  measure: "median_s" | "instructions" | "per_call_s";
  points: Point[];
}

/** The result of a commit. */
export interface Point {
  commit: string;
  started: string;
  value: number;
  low: number | null;
  high: number | null;
  runs: number;
  id: string;
  warnings: string[];
}
