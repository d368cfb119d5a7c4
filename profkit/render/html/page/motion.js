/* The window of weights that the graph shows, on its way to the one that is wanted. */
{
  const MOVE_MS = 180;
  /** Where one drawing takes longer than this, several would stutter. */
  const SLOW_MS = 30;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  class Motion {
    constructor() {
      this.window = [0, 1];
      this.path = null;
    }

    /** Go to another window, at once unless movement is wanted and drawing takes `drawMs` at most. */
    to(target, smoothly, drawMs) {
      const there = target.every((edge, i) => edge === this.window[i]);
      const still = there || !smoothly || calm.matches || drawMs > SLOW_MS;
      this.path = still ? null : { from: this.window, to: target, start: null };
      if (still) this.window = target;
    }

    /** The window of the moment `now`; whether it goes on moving. */
    advance(now) {
      if (!this.path) return false;
      const { from, to, start } = this.path;
      this.path.start = start ?? now;
      const part = Math.min(1, (now - this.path.start) / MOVE_MS);
      const eased = 1 - (1 - part) ** 3;
      this.window = from.map((edge, i) => edge + (to[i] - edge) * eased);
      if (part === 1) [this.window, this.path] = [to, null];
      return part < 1;
    }
  }

  /** A window that does not move yet. */
  profkit.newMotion = () => new Motion();
}
