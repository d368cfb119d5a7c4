/* Data that document.py embeds in the page: a head in JSON, and packed columns of numbers. */

import type { ChangedFunction, Head, MeasuredComparison, SampledComparison } from "./head.ts";
import type { NumberColumn } from "../types.ts";

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
