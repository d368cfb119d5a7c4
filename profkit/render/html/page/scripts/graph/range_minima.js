/* Minima of ranges, for queries in any order: the number of frames that stacks share. */

/** @import { NumberColumn } from "../types.js" */

const BLOCK = 64;

/**
 * Return `(from, to)` → the smallest of column[from … to - 1], in constant time: a sparse table.
 * @param {NumberColumn} column
 * @returns {(from: number, to: number) => number}
 */
export function rangeMinimum(column) {
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
 * @param {Uint16Array} column
 */
export function nearestSmaller(column) {
  const levels = [column];
  for (let top = column; top.length > BLOCK; levels.push(top)) top = minimaOf(top);
  return {
    next: (/** @type {number} */ i, /** @type {number} */ limit) => next(levels, i + 1, limit),
    previous: (/** @type {number} */ i, /** @type {number} */ limit) => previous(levels, i, limit),
  };
}

/** @param {Uint16Array} column */
function minimaOf(column) {
  const minima = new Uint16Array(Math.ceil(column.length / BLOCK)).fill(0xffff);
  for (let i = 0; i < column.length; i++) {
    const block = Math.floor(i / BLOCK);
    if (column[i] < minima[block]) minima[block] = column[i];
  }
  return minima;
}

/**
 * @param {Uint16Array[]} levels
 * @param {number} from
 * @param {number} limit
 */
function next(levels, from, limit) {
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

/**
 * @param {Uint16Array[]} levels
 * @param {number} from
 * @param {number} limit
 */
function previous(levels, from, limit) {
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
