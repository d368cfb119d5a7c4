/* Columns of tables with cells of one kind, such as times or names; the page's data names the kinds. */

import { exactCount, formatBytes, formatCount, formatPercent, formatTime } from "../text/numbers.ts";
import { formatShare } from "../text/run_text.ts";
import { barCell, cell, numberCell, plainHead } from "./parts.ts";
import type { Column } from "./sortable_table.ts";

export type Value = string | number | null;
export type Kind = "share" | "words" | "drawing" | keyof typeof NUMBERS | keyof typeof TEXTS;

const NUMBERS = {
  count: formatCount, exact: exactCount, bytes: formatBytes, portion: formatShare,
  cores: (share: number) => `${Math.round(share * 100)} %`,
  mean: (number: number) => number.toFixed(number < 1 ? 2 : 1),
  percent: (part: number) => formatPercent(part, 1),
  time: (seconds: number) => (seconds ? formatTime(seconds) : ""),
};
const TEXTS = {
  name: plainHead, text: (text: string) => cell(text),
  place: (text: string) => cell(text, { class: "commit" }),
};

/** Return a column with the values of rows; `words` and `drawing` are texts by which no one sorts. */
export function columnOf<Row>(
  id: string, title: string, kind: Kind, value: (row: Row) => Value,
): Column<Row> {
  const text = (row: Row) => String(value(row) ?? "");
  if (kind === "words") return { id, title, cell: (row) => TEXTS.text(text(row)) };
  if (kind === "drawing") return { id, title, cell: (row) => TEXTS.place(text(row)) };
  if (kind === "share") return { id, title, value, cell: (row) => shareCell(Number(value(row))) };
  if (kind in TEXTS) {
    const write = TEXTS[kind as keyof typeof TEXTS];
    return { id, title, value, rising: true, cell: (row) => write(text(row)) };
  }
  const write = NUMBERS[kind as keyof typeof NUMBERS];
  const number = (found: Value) => numberCell(found === null ? "" : write(Number(found)));
  return { id, title, value, cell: (row) => number(value(row)) };
}

const shareCell = (share: number) => barCell(share, formatShare(share));
