/* Minima of ranges, for queries in any order: the number of frames that stacks share. */

import type { NumberColumn } from "../data/page_data.ts";

const BLOCK = 64;

/** Return `(from, to)` → the smallest of column[from … to - 1], in constant time: a sparse table. */
export function rangeMinimum(column: NumberColumn): (from: number, to: number) => number {
  const levels = [column];
  let below = column;
  for (let half = 1; half * 2 <= column.length; half *= 2) {
    const level = new Uint16Array(column.length - half * 2 + 1);
    for (let i = 0; i < level.length; i++) level[i] = Math.min(below[i], below[i + half]);
    levels.push(level);
    below = level;
  }
  return (from, to) => {
    const power = 31 - Math.clz32(to - from);
    return Math.min(levels[power][from], levels[power][to - 2 ** power]);
  };
}

/**
 * Return `next(i, limit)`, the first index after i with a number below the limit, or the column's length;
 * and `previous(i, limit)`, the last such index up to and including i, or 0. Minima of blocks, and of blocks
 * of blocks, are used to skip ranges.
 */
export function nearestSmaller(column: Uint16Array) {
  const levels = [column];
  for (let top = column; top.length > BLOCK; levels.push(top)) top = minimaOf(top);
  return {
    next: (i: number, limit: number) => next(levels, i + 1, limit),
    previous: (i: number, limit: number) => previous(levels, i, limit),
  };
}

function minimaOf(column: Uint16Array) {
  const minima = new Uint16Array(Math.ceil(column.length / BLOCK)).fill(0xffff);
  for (let i = 0; i < column.length; i++) {
    const block = Math.floor(i / BLOCK);
    if (column[i] < minima[block]) minima[block] = column[i];
  }
  return minima;
}

function next(levels: Uint16Array[], from: number, limit: number) {
  let [at, level] = [from, 0];
  while (at < levels[level].length) {
    if (levels[level][at] < limit) {
      if (level === 0) return at;
      at *= BLOCK;
      level--;
    } else {
      at++;
      while (at % BLOCK === 0 && level + 1 < levels.length) {
        at /= BLOCK;
        level++;
      }
    }
  }
  return levels[0].length;
}

function previous(levels: Uint16Array[], from: number, limit: number) {
  let [at, level] = [from, 0];
  while (at >= 0) {
    if (levels[level][at] < limit) {
      if (level === 0) return at;
      at = Math.min(at * BLOCK + BLOCK - 1, levels[level - 1].length - 1);
      level--;
    } else {
      at--;
      while ((at + 1) % BLOCK === 0 && at >= 0 && level + 1 < levels.length) {
        at = (at + 1) / BLOCK - 1;
        level++;
      }
    }
  }
  return 0;
}
