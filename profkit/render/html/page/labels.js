/* Text on a canvas that fits its place. */
{
  const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
  const widths = new Map();

  /** The font of a size, in pixels. */
  profkit.fontOf = (px) => `${px}px ${FAMILY}`;

  /** As much of a text as fits into a width in the context's font, "" where that would say nothing. */
  profkit.fitted = (context, text, width) => {
    const whole = profkit.textWidth(context, text);
    if (whole <= width) return text;
    for (let keep = Math.floor((text.length * width) / whole); keep >= 2; keep--) {
      const shown = `${text.slice(0, keep - 1)}…`;
      if (context.measureText(shown).width <= width) return shown;
    }
    return "";
  };

  /** The width of a text, remembered: the same names are drawn again and again. */
  profkit.textWidth = (context, text) => {
    const key = `${context.font}\n${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    const { width } = context.measureText(text);
    widths.set(key, width);
    return width;
  };
}
