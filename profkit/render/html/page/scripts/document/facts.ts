/* Facts as a list of terms, in which addresses are links if the run has them. */

import type { Fact } from "../data/page_data.ts";
import { make, type Child } from "../elements/markup.ts";
import { currentRun } from "../state/state.ts";

/** Return facts as a list of terms; repeated names are written once. */
export const factList = (facts: Fact[]) =>
  make("dl", { class: "facts" }, facts.map(([name, parts], i) => [
    make("dt", {}, i && facts[i - 1][0] === name ? "" : name),
    make("dd", {}, parts.flatMap(([text, tone], k) =>
      [k ? " · " : "", make("span", { class: `tone-${tone}` }, withLink(text))])),
  ]).flat());

/** Return a text as child nodes. An address at its end becomes a link if it is among the links of the run. */
export function withLink(text: string): Child[] {
  const links = (currentRun()?.facts ?? []).filter(([name]) => name === "link");
  const address = links.map(([, parts]) => parts.at(-1)?.[0] ?? "")
    .find((link) => /^https?:\/\//.test(link) && text.endsWith(link));
  if (!address) return [text];
  const attributes = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return [text.slice(0, -address.length), make("a", attributes, address)];
}
