/* The frames of one drawing as columns: there are tens of thousands, and objects would be too slow. */

const FIRST_CAPACITY = 4096;
/** Parts have the steps of a byte whose zero is taken. */
const MOST_SMALL = 254;

const columnsOf = (/** @type {number} */ capacity) => ({
  x: new Float64Array(capacity),
  width: new Float64Array(capacity),
  depth: new Uint16Array(capacity),
  node: new Uint32Array(capacity),
  spot: new Float64Array(capacity),
  small: new Uint8Array(capacity),
});

/** Frames by index: position and width in pixels, row, node, and the spot by which their view knows them. */
export class FrameBatch {
  constructor() {
    this.count = 0;
    const { x, width, depth, node, spot, small } = columnsOf(FIRST_CAPACITY);
    this.x = x;
    this.width = width;
    this.depth = depth;
    this.node = node;
    this.spot = spot;
    /** 0 unless the frame stands for several. */
    this.small = small;
  }

  /** Forget all frames, keep the space. */
  clear() {
    this.count = 0;
  }

  /**
   * Append a frame.
   * @param {number} x
   * @param {number} width
   * @param {number} depth
   * @param {number} node
   * @param {number} spot
   */
  add(x, width, depth, node, spot, small = 0) {
    if (this.count === this.x.length) this.#grow(this.count * 2);
    const i = this.count++;
    this.x[i] = x;
    this.width[i] = width;
    this.depth[i] = depth;
    this.node[i] = node;
    this.spot[i] = spot;
    this.small[i] = small;
  }

  /**
   * Append a frame that stands for several too narrow to draw; the search matches this `part` of it.
   * @param {number} x
   * @param {number} width
   * @param {number} depth
   * @param {number} node
   * @param {number} spot
   * @param {number} part
   */
  addMany(x, width, depth, node, spot, part) {
    this.add(x, width, depth, node, spot, 1 + Math.ceil(part * MOST_SMALL));
  }

  /**
   * Return how much of a frame that stands for several the search matches.
   * @param {number} i
   */
  matchedPart(i) {
    return (this.small[i] - 1) / MOST_SMALL;
  }

  /**
   * Return the index of the frame at this position in this row, -1 if there is none.
   * @param {number} x
   * @param {number} depth
   */
  find(x, depth) {
    for (let i = 0; i < this.count; i++) {
      if (this.depth[i] === depth && x >= this.x[i] && x < this.x[i] + this.width[i]) return i;
    }
    return -1;
  }

  /** @param {number} capacity */
  #grow(capacity) {
    const { x, width, depth, node, spot, small } = columnsOf(capacity);
    x.set(this.x);
    width.set(this.width);
    depth.set(this.depth);
    node.set(this.node);
    spot.set(this.spot);
    small.set(this.small);
    Object.assign(this, { x, width, depth, node, spot, small });
  }
}
