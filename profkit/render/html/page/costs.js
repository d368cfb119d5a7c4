/*
 * What functions cost in a tree: recursion counts once, however often a function stands on a stack. Where the
 * file of a run states the totals of its functions, these are the totals.
 */
{
  const cache = new WeakMap();

  /**
   * Per function: `self`, `total` and `places` (nodes with weight) as arrays by function index; `most` of both.
   */
  profkit.costs = (tree) => {
    if (!cache.has(tree)) cache.set(tree, count(tree));
    return cache.get(tree);
  };

  function count(tree) {
    const many = profkit.head.functions.name.length;
    const [self, total] = [new Float64Array(many), new Float64Array(many)];
    const [places, until] = [new Uint32Array(many), new Uint32Array(many)];
    for (let node = 1; node < tree.fn.length; node++) {
      // Threads share their nodes; where this one has not been, it has no place.
      if (tree.total[node] === 0) {
        node = tree.end[node] - 1;
        continue;
      }
      const fn = tree.fn[node];
      self[fn] += tree.self[node];
      places[fn]++;
      // In preorder a node is below the last outermost one exactly when that one has not ended.
      if (node < until[fn]) continue;
      until[fn] = tree.end[node];
      total[fn] += tree.total[node];
    }
    const [functions, stated] = statedOf(tree);
    functions.forEach((fn, i) => { total[fn] = stated[i]; });
    const most = { self: self.reduce((a, b) => Math.max(a, b), 0), total: total.reduce((a, b) => Math.max(a, b), 0) };
    return { self, total, places, most, groups: new Map() };
  }

  /** Functions and their stated totals: of all threads together, or of one, such as a side of a comparison. */
  function statedOf({ run, thread }) {
    const whole = thread === "all" || profkit.head.runs[run].threads.length === 1;
    const prefix = whole ? `r${run}.totals` : `r${run}.${thread}.totals`;
    return ["function", "weight"].map((name) => profkit.column(`${prefix}.${name}`));
  }

  /** Whether the totals of functions are stated, rather than added up from stacks. */
  profkit.hasStated = (tree) => statedOf(tree)[0].length > 0;

  /** A function's nodes that are not below another node of the same function, in preorder. */
  function outermost(tree, fn) {
    const found = [];
    for (let node = 1; node < tree.fn.length; node++) {
      if (tree.fn[node] !== fn) continue;
      if (tree.total[node] > 0) found.push(node);
      node = tree.end[node] - 1;
    }
    return found;
  }

  /** Those who call a group, heaviest first: groups of the nodes above, each with the weight that came through it. */
  profkit.callersOf = (tree, group) => {
    const found = new Map();
    group.nodes.forEach((node, i) => {
      const above = tree.parent[node];
      if (node !== 0) add(found, above === 0 ? null : tree.fn[above], above, group.weights[i]);
    });
    return sorted(found);
  };

  /** Those whom a group calls, heaviest first, each with its weight below the group. */
  profkit.calleesOf = (tree, group) => {
    const found = new Map();
    for (const node of group.nodes) {
      for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
        if (tree.total[child] > 0) add(found, tree.fn[child], child, tree.total[child]);
      }
    }
    return sorted(found);
  };

  /** All outermost nodes of a function as one group: where callers and callees start. */
  profkit.groupOf = (tree, fn) => {
    const { groups } = profkit.costs(tree);
    if (!groups.has(fn)) {
      const nodes = outermost(tree, fn);
      const weights = nodes.map((node) => tree.total[node]);
      groups.set(fn, { fn, nodes, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) });
    }
    return groups.get(fn);
  };

  function add(found, fn, node, weight) {
    if (!found.has(fn)) found.set(fn, { fn, nodes: [], weights: [], weight: 0 });
    const group = found.get(fn);
    group.nodes.push(node);
    group.weights.push(weight);
    group.weight += weight;
  }

  const sorted = (found) => [...found.values()].sort((a, b) => b.weight - a.weight || (a.fn ?? -1) - (b.fn ?? -1));
}
