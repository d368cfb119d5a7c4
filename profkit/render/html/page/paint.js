/* Drawing a batch of frames on a canvas. */
{
  const FONT_PX = 12;
  const PADDING = 5;
  const LEAST_LABEL_PX = 26;
  /** How frames step back: those that a search does not match, and those above what is zoomed to. */
  const NO_MATCH = 0.32;
  const ABOVE_FOCUS = 0.5;
  const LEAST_TINT = 0.25;
  /** Text steps back less: it stays readable. */
  const TEXT = 0.62;
  const look = { fill: "", text: "", alpha: 1, outline: null, line: 0 };

  /**
   * Draw a scene: the frames of `batch`, rows at `top(row)` and `height` high, on a canvas of `size` with
   * `ratio` device pixels to one of CSS; `fill(fn)` colours them; `matches`, `selected`, `cursor` and
   * `focusDepth` say which are special. Above them is the scale.
   */
  profkit.paint = (context, scene) => {
    const { size, ratio, palette } = scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, size.height);
    context.font = profkit.fontOf(FONT_PX);
    context.textBaseline = "middle";
    paintFrames(context, scene);
    context.globalAlpha = 1;
    profkit.paintScale(context, scene);
  };

  function paintFrames(context, scene) {
    const { batch, ratio, size, height } = scene;
    const gap = 1 / ratio;
    for (let i = 0; i < batch.count; i++) {
      const y = scene.top(batch.depth[i]);
      if (y + height <= scene.ruler || y >= size.height) continue;
      // Edges lie on whole device pixels: sharp, and neighbours never overlap.
      const left = Math.round(Math.max(0, batch.x[i]) * ratio) / ratio;
      const right = Math.round(Math.min(size.width, batch.x[i] + batch.width[i]) * ratio) / ratio;
      const width = Math.max(gap, right - left - (right - left > 3 * gap ? gap : 0));
      setLook(scene, i);
      context.globalAlpha = look.alpha;
      context.fillStyle = look.fill;
      context.fillRect(left, y, width, height - gap);
      if (batch.small[i] > 1) tint(context, scene, batch.matchedPart(i), left, y, width);
      if (width >= LEAST_LABEL_PX && !batch.small[i]) paintLabel(context, scene, i, left, y, width);
      if (look.outline) paintOutline(context, left, y, width, height - gap);
    }
  }

  /** The more of what is too narrow to draw is matched, the more it looks so; the least bit is seen. */
  function tint(context, { palette, height, ratio }, part, left, y, width) {
    context.globalAlpha = LEAST_TINT + (1 - LEAST_TINT) * part;
    context.fillStyle = palette.match;
    context.fillRect(left, y, width, height - 1 / ratio);
  }

  /** How a frame looks; one object serves all, for there are many. */
  function setLook(scene, i) {
    const { batch, palette } = scene;
    const [node, small] = [batch.node[i], batch.small[i]];
    const fn = scene.tree.fn[node];
    look.fill = small ? palette.small : node === 0 ? palette.root : scene.fill(fn);
    look.text = palette.text;
    look.outline = null;
    look.alpha = batch.depth[i] < scene.focusDepth ? ABOVE_FOCUS : 1;
    if (small || node === 0) return;
    if (scene.matches) setMatch(scene.matches[fn], palette);
    if (batch.spot[i] === scene.cursor) [look.outline, look.line] = [palette.ring, 2.5];
    else if (fn === scene.selected) [look.outline, look.line] = [palette.chosen, 1.5];
  }

  function setMatch(matches, palette) {
    look.alpha = matches ? 1 : NO_MATCH;
    if (matches) [look.fill, look.text] = [palette.match, palette.matchText];
  }

  function paintLabel(context, scene, i, left, y, width) {
    const shown = profkit.fitted(context, profkit.nameOf(scene.tree, scene.batch.node[i]), width - 2 * PADDING);
    if (shown === "") return;
    context.globalAlpha = Math.max(look.alpha, TEXT);
    context.fillStyle = look.alpha < 1 ? scene.palette.ink : look.text;
    context.fillText(shown, left + PADDING, y + scene.height / 2);
  }

  /** An outline within a frame; where a frame is too narrow for one, only the cursor's shows. */
  function paintOutline(context, left, y, width, height) {
    context.globalAlpha = 1;
    context.strokeStyle = look.outline;
    context.lineWidth = look.line;
    const inset = look.line / 2;
    if (width > 4) context.strokeRect(left + inset, y + inset, width - look.line, height - look.line);
    else if (look.line > 2) context.strokeRect(left, y + inset, 2, height - look.line);
  }
}
