/* Movement of the graph's window of weights to the wanted window. */

import type { Range } from "../types.ts";

const MOVE_MS = 180;
/** Duration of a drawing above which movement would stutter. */
const SLOW_MS = 30;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Window that moves to a target. */
export class Motion {
  window: Range = [0, 1];
  path: { from: Range, to: Range, start: number | null } | null = null;

  /** Go to another window; immediately, unless movement is wanted and drawing is fast. */
  to(target: Range, smoothly: boolean, drawMs: number) {
    const there = target.every((edge, i) => edge === this.window[i]);
    const still = there || !smoothly || calm.matches || drawMs > SLOW_MS;
    this.path = still ? null : { from: this.window, to: target, start: null };
    if (still) this.window = target;
  }

  /** Move to the window at a moment, and return whether the movement continues. */
  advance(now: number) {
    if (!this.path) return false;
    const { from, to } = this.path;
    const start = this.path.start ?? now;
    this.path.start = start;
    const part = Math.min(1, (now - start) / MOVE_MS);
    const eased = 1 - (1 - part) ** 3;
    this.window = [from[0] + (to[0] - from[0]) * eased, from[1] + (to[1] - from[1]) * eased];
    if (part === 1) [this.window, this.path] = [to, null];
    return part < 1;
  }
}
