/* Smallest numbers of ranges: what stacks have in common, asked for in any order. */
{
  const BLOCK = 64;

  /** `(from, to) → smallest of column[from … to - 1]` in constant time: a sparse table. */
  profkit.rangeMinimum = (column) => {
    const levels = [column];
    for (let half = 1; half * 2 <= column.length; half *= 2) {
      const below = levels.at(-1);
      const level = new Uint16Array(column.length - half * 2 + 1);
      for (let i = 0; i < level.length; i++) level[i] = Math.min(below[i], below[i + half]);
      levels.push(level);
    }
    return (from, to) => {
      const power = 31 - Math.clz32(to - from);
      return Math.min(levels[power][from], levels[power][to - 2 ** power]);
    };
  };

  /**
   * `next(i, limit)`: the first index after i with a number below the limit, the column's length where there
   * is none. `previous(i, limit)`: the last such index up to i itself, 0 where there is none. Whole
   * blocks, and blocks of blocks, are skipped by their minima.
   */
  profkit.below = (column) => {
    const levels = [column];
    while (levels.at(-1).length > BLOCK) levels.push(minimaOf(levels.at(-1)));
    return {
      next: (i, limit) => next(levels, i + 1, limit),
      previous: (i, limit) => previous(levels, i, limit),
    };
  };

  function minimaOf(column) {
    const minima = new Uint16Array(Math.ceil(column.length / BLOCK)).fill(0xffff);
    for (let i = 0; i < column.length; i++) {
      const block = Math.floor(i / BLOCK);
      if (column[i] < minima[block]) minima[block] = column[i];
    }
    return minima;
  }

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
}
