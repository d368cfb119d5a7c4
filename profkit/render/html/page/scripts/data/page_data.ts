/* Data that document.py embeds in the page: a head in JSON, and packed columns of numbers. */

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

/** The differences of functions between sampled sides, by function; empty on other pages. */
export const changes: Map<number, ChangedFunction> =
  new Map((head.comparison?.functions ?? []).map((each) => [each.function, each]));

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
  kind: "sampled" | "comparison" | "measured" | "document";
  title: string;
  /** What the title is about: the id of a run, or a number of statements. */
  identity?: string;
  /** The report, without what the panels below show. */
  blocks?: Block[];
  /** The places of the packed columns by name. */
  columns: Record<string, ColumnPlace>;
  functions: FunctionColumns;
  packages: Package[];
  runs: Run[];
  initial?: { thread?: ThreadChoice; sort?: "self" | "total" | "name"; activity?: Activity };
  orders?: Order[];
  comparison?: SampledComparison;
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
  /** Blocks of the panels of tables, by panel. */
  tables?: Record<string, Block[] | undefined>;
  /** Source excerpts by function index. */
  source?: Record<string, { first: number; lines: string[] }>;
  notes?: string[];
}

export interface Thread {
  /** With its process if there are several. */
  name: string;
  /** Threads of lower places are offered first. */
  place: number;
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

/** The meaning of a text: plain, strong, faint, warn, bad, good or aside. */
export type Tone = string;

/** A block of a document. */
export type Block =
  | { is: "title", label: string, identity: string, kind: string, is_name: boolean, mark: string }
  | { is: "section", title: string, remark: string }
  | { is: "sentences", texts: string[], tone: Tone }
  | { is: "facts", rows: Fact[], gap: boolean }
  | { is: "remark", text: string, tone: Tone, gap: boolean }
  | LinesBlock
  | { is: "nested", folded: string, blocks: Block[] }
  | TableBlock
  | Trend
  | Distribution;

interface LinesBlock {
  is: "lines";
  head: string;
  lines: [text: string, tone: Tone, heat: number | null, more: string, mark: string][];
  tone: Tone;
  gap: boolean;
  whole: boolean;
}

/** A table; `orders` are those that its rows open. */
export interface TableBlock {
  is: "table";
  columns: TableColumn[];
  orders: number[];
}

/** A column: members of cells by row, if any cell has them, and one tone if all have the same. */
export interface TableColumn {
  head: string;
  role: string;
  texts: string[];
  tones: Tone[];
  /** Whether it has the headings of the rows; if no column has, that is the first one of names or words. */
  names_rows?: boolean;
  /** Shares of which bars are drawn. */
  heats?: (number | null)[];
  mores?: string[];
  marks?: string[];
  /** Depths of the calls of a tree. */
  depths?: number[];
  bounds?: (Bounds | null)[];
}

/** Parts of a cell's width. */
export type Bounds = [value: number, low: number | null, high: number | null, zero: number | null];

/** Values by commit, oldest first. */
export interface Trend {
  is: "trend";
  title: string;
  summary: string;
  points: TrendPoint[];
  is_time: boolean;
}

export type TrendPoint = [
  name: string, value: number, low: number | null, high: number | null, words: string, warned: boolean,
];

/** Times of sides on one scale; those of a program are of executions, each in a process of its own. */
export interface Distribution {
  is: "distribution";
  sides: Times[];
  is_program: boolean;
}

/** Times of blocks by process, and the zygotes of the processes. */
export type Times = [
  name: string, processes: number[][], zygotes: number[],
  median_s: number, low_s: number | null, high_s: number | null,
];

/** A measured work order of several. */
export interface Order {
  label: string;
  /** The index of the run with its calls, if they were counted. */
  run: number | null;
  blocks: Block[];
}

export interface Sides<T> {
  a: T;
  b: T;
}

export interface SampledComparison {
  names: Sides<string>;
  functions: ChangedFunction[];
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
