/* Frames of one drawing as columns: objects would be too slow for tens of thousands. */

const FIRST_CAPACITY = 4096;
/** Steps of the matched part in a byte, in which 0 means an ordinary frame. */
const MAX_SMALL = 254;

const columnsOf = (/** @type {number} */ capacity) => ({
  x: new Float64Array(capacity),
  width: new Float64Array(capacity),
  depth: new Uint16Array(capacity),
  node: new Uint32Array(capacity),
  spot: new Float64Array(capacity),
  small: new Uint8Array(capacity),
});

/** Frames by index: position and width in pixels, row, node, and spot in their view. */
export class FrameBatch {
  constructor() {
    this.count = 0;
    const { x, width, depth, node, spot, small } = columnsOf(FIRST_CAPACITY);
    this.x = x;
    this.width = width;
    this.depth = depth;
    this.node = node;
    this.spot = spot;
    /** 0 unless the frame combines several. */
    this.small = small;
  }

  /** Remove all frames, but keep the arrays. */
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
   * Append a frame that combines several that are too narrow to draw; the search matches `part` of it.
   * @param {number} x
   * @param {number} width
   * @param {number} depth
   * @param {number} node
   * @param {number} spot
   * @param {number} part
   */
  addMany(x, width, depth, node, spot, part) {
    this.add(x, width, depth, node, spot, 1 + Math.ceil(part * MAX_SMALL));
  }

  /**
   * Return the part of a combined frame that the search matches.
   * @param {number} i
   */
  matchedPart(i) {
    return (this.small[i] - 1) / MAX_SMALL;
  }

  /**
   * Return the index of the frame at a position in a row, or -1.
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
