/* Drawing the scale above the frames: ticks, names of threads, and the part of the whole that is in sight. */
{
  const FONT_PX = 11;
  const TICK_PX = 5;
  const PADDING = 5;
  const LEAST_PART_PX = 6;
  const PART_HEIGHT_PX = 3;
  const LONGEST_NAME_PX = 160;

  /** Draw the scale of a scene: `ticks`, `marks`, and `part`, the window as parts of the whole. */
  profkit.paintScale = (context, scene) => {
    const { size, palette, ruler } = scene;
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, size.width, ruler);
    context.font = profkit.fontOf(FONT_PX);
    paintTicks(context, scene);
    scene.marks.forEach((mark) => paintMark(context, scene, mark));
    context.fillStyle = palette.line;
    context.fillRect(0, ruler - 1, size.width, 1);
    paintPart(context, scene);
  };

  function paintTicks(context, { size, palette, ruler, ticks }) {
    for (const { x, text } of ticks) {
      const width = profkit.textWidth(context, text);
      context.fillStyle = palette.line;
      context.fillRect(Math.round(x), ruler - TICK_PX, 1, TICK_PX);
      context.fillStyle = palette.faint;
      const left = Math.min(Math.max(x - width / 2, PADDING), size.width - width - PADDING);
      context.fillText(text, left, ruler / 2 - 2);
    }
  }

  /** A line where a thread begins, and its name. */
  function paintMark(context, { size, palette, ruler }, { x, room, text }) {
    const shown = profkit.fitted(context, text, Math.min(LONGEST_NAME_PX, room - 2 * PADDING));
    context.fillStyle = palette.ink;
    context.fillRect(Math.round(x), 0, 1, size.height);
    context.fillStyle = palette.ground;
    context.fillRect(Math.round(x) + 1, 0, profkit.textWidth(context, shown) + 2 * PADDING, ruler);
    context.fillStyle = palette.ink;
    context.fillText(shown, x + PADDING, ruler / 2 - 2);
  }

  /** Which part of the whole is in sight, as a scroll bar would show it; nothing where all of it is. */
  function paintPart(context, { size, palette, ruler, part: [from, to] }) {
    if (to - from >= 1) return;
    const width = Math.max(LEAST_PART_PX, (to - from) * size.width);
    context.fillStyle = palette.ring;
    const left = Math.min(from * size.width, size.width - width);
    context.fillRect(left, ruler - PART_HEIGHT_PX, width, PART_HEIGHT_PX);
  }
}
