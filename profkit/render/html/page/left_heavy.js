/*
 * The left-heavy view: equal stacks merged, siblings heaviest first. Positions are weights from 0 to the
 * tree's total; a spot is a node.
 */
{
  const LEAST_PX = 0.5;

  /**
   * The view of a tree. A view knows for a spot its `node`, `weight` and `extent` (from and to), and the spots
   * `parent`, `child` and `sibling`; `spotOf` a node; `marks` (threads and where they begin), `origins` (where
   * the scale begins to count); and `layout` fills a batch with the frames of a window.
   */
  profkit.leftHeavy = (tree) => ({
    tree,
    total: tree.total[0],
    node: (spot) => spot,
    spotOf: (node) => node,
    extent: (spot) => extent(tree, spot),
    parent: (spot) => tree.parent[spot],
    child: (spot) => profkit.children(tree, spot)[0] ?? spot,
    sibling: (spot, step) => sibling(tree, spot, step),
    weight: (spot) => tree.total[spot],
    marks: () => [],
    origins: ([from]) => [from],
    layout: (window, widthPx, rows, batch, matches) =>
      layout(tree, window, widthPx, { rows, matched: profkit.deepestMatches(tree, matches) }, batch),
  });

  function extent(tree, node) {
    let from = 0;
    for (let at = node; at > 0; at = tree.parent[at]) {
      for (const child of profkit.children(tree, tree.parent[at])) {
        if (child === at) break;
        from += tree.total[child];
      }
    }
    return [from, from + tree.total[node]];
  }

  function sibling(tree, node, step) {
    if (node === 0) return node;
    const all = profkit.children(tree, tree.parent[node]);
    return all[all.indexOf(node) + step] ?? node;
  }

  /** Fill the batch with the frames of a window that are wide enough to see, in the rows first … last. */
  function layout(tree, [from, to], widthPx, { rows: [first, last], matched }, batch) {
    const scale = widthPx / (to - from);
    const least = LEAST_PX / scale;
    const nodes = [0];
    const starts = [0];
    while (nodes.length > 0) {
      const [node, start] = [nodes.pop(), starts.pop()];
      const depth = tree.depth[node];
      if (depth >= first) batch.add((start - from) * scale, tree.total[node] * scale, depth, node, node);
      if (depth >= last || tree.end[node] === node + 1) continue;
      let x = start;
      const until = start + tree.total[node] - tree.self[node];
      for (const child of childrenOf(tree, node)) {
        const total = tree.total[child];
        if (total < least) {
          // Heaviest first: all that follow are narrower still, and are drawn as one.
          const [a, b] = [Math.max(x, from), Math.min(until, to)];
          if (b - a >= least && depth + 1 >= first) {
            const part = matched ? matchedPart(tree, node, child, matched) : 0;
            batch.addMany((a - from) * scale, (b - a) * scale, depth + 1, node, node, part);
          }
          break;
        }
        if (x >= to) break;
        if (x + total > from) {
          nodes.push(child);
          starts.push(x);
        }
        x += total;
      }
    }
  }

  /** Of the children of a node from the child `first` on, the part of the weight with a match on its stack. */
  function matchedPart(tree, node, first, matched) {
    const all = childrenOf(tree, node);
    let [found, whole] = [0, 0];
    for (const child of all.slice(all.indexOf(first))) {
      whole += tree.total[child];
      for (let at = child; at < tree.end[child]; at++) {
        if (matched[at] >= tree.depth[child]) found += tree.self[at];
      }
    }
    return found / whole;
  }

  const single = [0];

  function childrenOf(tree, node) {
    const child = node + 1;
    if (tree.end[child] !== tree.end[node]) return profkit.children(tree, node);
    single[0] = child;
    return single;
  }
}
