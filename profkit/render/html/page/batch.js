/* The frames of one drawing as columns: there are tens of thousands, and objects would cost it its speed. */
{
  const FIRST_CAPACITY = 4096;
  /** Parts have the steps of a byte whose zero is taken. */
  const MOST_SMALL = 254;
  const KINDS = {
    x: Float64Array, width: Float64Array, depth: Uint16Array, node: Uint32Array, spot: Float64Array,
    small: Uint8Array,
  };

  class Batch {
    constructor() {
      this.count = 0;
      this.grow(FIRST_CAPACITY);
    }

    /** Forget all frames, keep the space. */
    clear() {
      this.count = 0;
    }

    /**
     * Append a frame: position and width in pixels, row, node, and the spot by which its view knows it;
     * `small` is 0 but where it stands for many.
     */
    add(x, width, depth, node, spot, small = 0) {
      if (this.count === this.x.length) this.grow(this.count * 2);
      const i = this.count++;
      this.x[i] = x;
      this.width[i] = width;
      this.depth[i] = depth;
      this.node[i] = node;
      this.spot[i] = spot;
      this.small[i] = small;
    }

    /** Append what stands for many frames that are too narrow to draw; the search matches this `part` of it. */
    addMany(x, width, depth, node, spot, part) {
      this.add(x, width, depth, node, spot, 1 + Math.ceil(part * MOST_SMALL));
    }

    /** Which part of a frame that stands for many the search matches. */
    matchedPart(i) {
      return (this.small[i] - 1) / MOST_SMALL;
    }

    grow(capacity) {
      for (const [name, Kind] of Object.entries(KINDS)) {
        const column = new Kind(capacity);
        if (this[name]) column.set(this[name]);
        this[name] = column;
      }
    }

    /** The index of the frame at this position in this row, -1 where there is none. */
    find(x, depth) {
      for (let i = 0; i < this.count; i++) {
        if (this.depth[i] === depth && x >= this.x[i] && x < this.x[i] + this.width[i]) return i;
      }
      return -1;
    }
  }

  /** An empty batch. */
  profkit.newBatch = () => new Batch();
}
