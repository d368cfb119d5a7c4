/* Blocks of a document as elements, one below the other. */

import type { Block, Tone } from "../data/page_data.ts";
import { make } from "../elements/markup.ts";
import { folded, titled } from "../elements/parts.ts";
import { timesFigure } from "./distribution.ts";
import { factList } from "./facts.ts";
import { tableElement } from "./table.ts";
import { trendPlot, type TrendPlot } from "./trend.ts";

/** Return an element with all blocks; a table that follows a trend has the rows of its points. */
export function documentElement(blocks: Block[], kind: "document" | "nested" = "document") {
  let trend: TrendPlot | null = null;
  const draw = (block: Block) => {
    if (block.is === "trend") return (trend = trendPlot(block)).element;
    if (block.is !== "table") return elementOf(block);
    const table = tableElement(block, trend);
    trend = null;
    return table;
  };
  return make("div", { class: kind }, blocks.map(draw));
}

type Simple = Exclude<Block, { is: "table" | "trend" }>;

const drawings: { [Kind in Simple["is"]]: (block: Extract<Simple, { is: Kind }>) => HTMLElement } = {
  title: ({ mark, label, identity }) => make("h3", { class: "order-name" }, `${mark} ${label}`.trim(),
    make("span", { class: "variant" }, identity)),
  section: ({ title, remark }) => titled("h3", title, remark),
  sentences: ({ texts, tone }) => sentences(texts, tone),
  facts: ({ rows }) => factList(rows),
  remark: ({ text, tone }) => make("p", { class: `remark tone-${tone}` }, text),
  lines: ({ head, lines, tone }) => {
    const text = lines.map(([line, , , more]) => (more ? `${line}  ${more}` : line)).join("\n");
    return make("div", { class: `lines lines-${tone}` },
      head && make("strong", { class: `tone-${tone}` }, head), text ? make("pre", {}, text) : null);
  },
  nested: (block) => {
    const content = documentElement(block.blocks, "nested");
    return block.folded ? folded(block.folded, content) : content;
  },
  distribution: timesFigure,
};

const elementOf = (block: Simple) => (drawings[block.is] as (block: Simple) => HTMLElement)(block);

const sentences = ([first = "", ...others]: string[], tone: Tone) =>
  make("div", { class: "sentences" },
    make("p", { class: tone === "plain" ? null : `headline-text tone-${tone}` }, first),
    others.map((text) => make("p", {}, text)));
