/* Frames of one drawing as columns: objects would be too slow for tens of thousands. */


const FIRST_CAPACITY = 4096;
/** Steps of the matched part in a byte, in which 0 means an ordinary frame. */
const MAX_SMALL = 254;

/** Frames by index: position and width in pixels, row, node, and spot in their view. */
export class FrameBatch {
  count = 0;
  x = new Float64Array(FIRST_CAPACITY);
  width = new Float64Array(FIRST_CAPACITY);
  depth = new Uint16Array(FIRST_CAPACITY);
  node = new Uint32Array(FIRST_CAPACITY);
  spot = new Float64Array(FIRST_CAPACITY);
  /** 0 unless the frame combines several. */
  small = new Uint8Array(FIRST_CAPACITY);

  /** Remove all frames, but keep the arrays. */
  clear() {
    this.count = 0;
  }

  /** Append a frame. */
  add(x: number, width: number, depth: number, node: number, spot: number, small = 0) {
    if (this.count === this.x.length) this.#grow();
    const i = this.count++;
    this.x[i] = x;
    this.width[i] = width;
    this.depth[i] = depth;
    this.node[i] = node;
    this.spot[i] = spot;
    this.small[i] = small;
  }

  /** Append a frame that combines several that are too narrow to draw; the search matches `part` of it. */
  addMany(x: number, width: number, depth: number, node: number, spot: number, part: number) {
    this.add(x, width, depth, node, spot, 1 + Math.ceil(part * MAX_SMALL));
  }

  /** Return the part of a combined frame that the search matches. */
  matchedPart(i: number) {
    return (this.small[i] - 1) / MAX_SMALL;
  }

  /** Return the index of the frame at a position in a row, or -1. */
  find(x: number, depth: number) {
    for (let i = 0; i < this.count; i++) {
      if (this.depth[i] === depth && x >= this.x[i] && x < this.x[i] + this.width[i]) return i;
    }
    return -1;
  }

  #grow() {
    this.x = grown(this.x);
    this.width = grown(this.width);
    this.depth = grown(this.depth);
    this.node = grown(this.node);
    this.spot = grown(this.spot);
    this.small = grown(this.small);
  }
}

/** Return a copy of a column with twice the room. */
function grown<Column extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(column: Column) {
  const larger = new (column.constructor as new (length: number) => Column)(2 * column.length);
  larger.set(column);
  return larger;
}
