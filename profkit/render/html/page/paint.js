/* Drawing a batch of frames on a canvas. */
{
  const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
  const RULER_FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
  const PADDING = 5;
  const LEAST_LABEL_PX = 26;
  const DIMMED = 0.32;
  const ABOVE_FOCUS = 0.5;
  const widths = new Map();

  /**
   * Draw a scene: `batch`, `top(row)` and `height` of rows in pixels, `size` and `ratio` of the canvas, `ruler`
   * (height) and `ticks`, `fill(fn)`, and what is special: `matches`, `focusDepth`, `selected`, `cursor`.
   */
  profkit.paint = (context, scene) => {
    const { size, ratio, palette } = scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, size.height);
    context.font = FONT;
    context.textBaseline = "middle";
    paintFrames(context, scene);
    context.globalAlpha = 1;
    paintRuler(context, scene);
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
      const look = lookOf(scene, i);
      context.globalAlpha = look.alpha;
      context.fillStyle = look.fill;
      context.fillRect(left, y, width, height - gap);
      if (width >= LEAST_LABEL_PX && !batch.small[i]) label(context, scene, i, left, y, width, look);
      if (look.outline) outline(context, look, left, y, width, height - gap);
    }
  }

  const look = { fill: "", text: "", alpha: 1, outline: null, line: 0 };

  /** How a frame looks; one object for all, for there are many. */
  function lookOf(scene, i) {
    const { batch, palette, tree } = scene;
    const node = batch.node[i];
    const fn = tree.fn[node];
    look.text = palette.text;
    look.outline = null;
    look.alpha = 1;
    if (batch.small[i]) look.fill = palette.small;
    else if (node === 0) look.fill = palette.root;
    else look.fill = scene.fill(fn);
    if (scene.matches && node > 0 && !batch.small[i]) {
      if (scene.matches[fn]) [look.fill, look.text] = [palette.match, palette.matchText];
      else look.alpha = DIMMED;
    } else if (batch.depth[i] < scene.focusDepth) look.alpha = ABOVE_FOCUS;
    if (batch.small[i] || node === 0) return look;
    if (batch.spot[i] === scene.cursor) [look.outline, look.line] = [palette.ring, 2.5];
    else if (fn === scene.selected) [look.outline, look.line] = [palette.chosen, 1.5];
    return look;
  }

  function label(context, scene, i, left, y, width, { text, alpha }) {
    const shown = fitted(context, profkit.nameOf(scene.tree, scene.batch.node[i]), width - 2 * PADDING);
    if (shown === "") return;
    // Text stays readable where its frame steps back.
    context.globalAlpha = Math.max(alpha, 0.62);
    context.fillStyle = alpha < 1 ? scene.palette.ink : text;
    context.fillText(shown, left + PADDING, y + scene.height / 2);
  }

  /** As much of a name as fits into a width, "" where that would say nothing. */
  function fitted(context, name, width) {
    const whole = widthOf(context, name);
    if (whole <= width) return name;
    for (let keep = Math.floor((name.length * width) / whole); keep >= 2; keep--) {
      const shown = `${name.slice(0, keep - 1)}…`;
      if (widthOf(context, shown, false) <= width) return shown;
    }
    return "";
  }

  function widthOf(context, text, keep = true) {
    const known = widths.get(text);
    if (known !== undefined) return known;
    const width = context.measureText(text).width;
    if (keep) widths.set(text, width);
    return width;
  }

  function outline(context, { outline: color, line }, left, y, width, height) {
    context.globalAlpha = 1;
    context.strokeStyle = color;
    context.lineWidth = line;
    if (width > 4) context.strokeRect(left + line / 2, y + line / 2, width - line, height - line);
    else if (line > 2) context.strokeRect(left, y + line / 2, 2, height - line);
  }

  function paintRuler(context, { size, palette, ruler, ticks, marks }) {
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, ruler);
    context.font = RULER_FONT;
    for (const { x, text } of ticks) {
      context.fillStyle = palette.line;
      context.fillRect(Math.round(x), ruler - 5, 1, 5);
      context.fillStyle = palette.faint;
      context.textAlign = x < 20 ? "left" : x > size.width - 40 ? "right" : "center";
      context.fillText(text, Math.max(0, Math.min(size.width, x)), ruler / 2 - 2);
    }
    context.textAlign = "left";
    for (const { x, text } of marks) {
      context.fillStyle = palette.ink;
      context.fillRect(Math.round(x), 0, 1, size.height);
      const shown = fitted(context, text, 160);
      context.fillStyle = palette.ground;
      context.fillRect(Math.round(x) + 1, 0, widthOf(context, shown) + 2 * PADDING, ruler);
      context.fillStyle = palette.ink;
      context.fillText(shown, x + PADDING, ruler / 2 - 2);
    }
    context.fillStyle = palette.line;
    context.fillRect(0, ruler - 1, size.width, 1);
  }
}
