/* Call trees of a run as arrays in preorder, made from its sorted, front-coded stacks. */
{
  const shapes = new Map();
  const trees = new Map();
  const MOST_TREES = 6;

  /**
   * The call tree of a run and a thread (index or "all"): `parent`, `fn`, `end`, `depth`, `self`, `total` by
   * node. Node 0 is the root; the nodes below n are n + 1 … end[n] - 1. All threads of a run have the
   * same nodes, so a node keeps its number; where a thread has not been, its total is 0.
   */
  profkit.tree = (run, thread = "all") => {
    const key = `${run}/${thread}`;
    const tree = trees.get(key) ?? weighed(run, thread);
    // The oldest goes: a tree of millions of nodes is large, and there may be many threads.
    trees.delete(key);
    if (trees.size === MOST_TREES) trees.delete(trees.keys().next().value);
    trees.set(key, tree);
    return tree;
  };

  /** The nodes right below a node that have weight, heaviest first. */
  profkit.children = (tree, node) => {
    const known = tree.children.get(node);
    if (known) return known;
    const found = [];
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
      if (tree.total[child] > 0) found.push(child);
    }
    found.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
    if (found.length > 1) tree.children.set(node, found);
    return found;
  };

  /** The nodes from the root's child down to a node, itself included. */
  profkit.pathTo = (tree, node) => {
    const path = [];
    for (let at = node; at > 0; at = tree.parent[at]) path.push(at);
    return path.reverse();
  };

  /** Nodes, and the node at which each stack ends: what all threads of a run share. */
  profkit.shape = (run) => {
    if (!shapes.has(run)) shapes.set(run, shapeOf(run));
    return shapes.get(run);
  };

  function shapeOf(run) {
    const column = (name) => profkit.column(`r${run}.${name}`);
    const [shared, length, frames] = [column("shared"), column("length"), column("frames")];
    const count = frames.length + 1;
    const shape = {
      parent: new Uint32Array(count), end: new Uint32Array(count), depth: new Uint16Array(count),
      fn: new Uint32Array(count), leaf: new Uint32Array(length.length), deepest: 0,
    };
    const path = [0];
    let next = 1;
    for (let stack = 0; stack < length.length; stack++) {
      // What the last stack has beyond the shared part ends here: preorder.
      for (let depth = path.length - 1; depth > shared[stack]; depth--) shape.end[path[depth]] = next;
      path.length = shared[stack] + 1;
      for (let depth = path.length; depth <= length[stack]; depth++) {
        shape.fn[next] = frames[next - 1];
        shape.parent[next] = path[depth - 1];
        shape.depth[next] = depth;
        path.push(next++);
      }
      shape.leaf[stack] = path[length[stack]];
      shape.deepest = Math.max(shape.deepest, length[stack]);
    }
    for (const node of path) shape.end[node] = count;
    return shape;
  }

  function weighed(run, thread) {
    const shape = profkit.shape(run);
    const column = (name) => profkit.column(`r${run}.pair.${name}`);
    const [stacks, threads, weights] = [column("stack"), column("thread"), column("weight")];
    const self = new Float64Array(shape.fn.length);
    for (let pair = 0; pair < stacks.length; pair++) {
      if (thread === "all" || threads[pair] === thread) self[shape.leaf[stacks[pair]]] += weights[pair];
    }
    const total = self.slice();
    for (let node = total.length - 1; node > 0; node--) total[shape.parent[node]] += total[node];
    return { ...shape, run, thread, self, total, children: new Map() };
  }
}
