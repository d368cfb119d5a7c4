/*
 * Colours of frames: user code warm, libraries cool, native code grey, a package always in its own hue.
 * Warm and cool (orange and blue) stay apart for eyes that do not tell red from green.
 */
{
  const head = profkit.head;
  /* Lightness, chroma and the hues that a kind of package may have, in OKLCH. */
  const LIGHT = {
    user: [0.815, 0.125, 45, 92], library: [0.845, 0.062, 170, 318],
    native: [0.83, 0, 0, 0], none: [0.88, 0, 0, 0],
  };
  const DARK = {
    user: [0.73, 0.125, 45, 92], library: [0.63, 0.075, 170, 318],
    native: [0.6, 0, 0, 0], none: [0.5, 0, 0, 0],
  };
  const SPREAD = 0.022;
  /** Where all is native, as in Callgrind's counts, packages are told apart as those of libraries are. */
  const allNative = head.packages.every(({ kind }) => kind === "native" || kind === "none");
  const tables = new Map();

  /** The fill of every function, and the colours of everything else in the graph, by theme. */
  profkit.palette = (dark = profkit.isDark()) => {
    if (!tables.has(dark)) tables.set(dark, paletteOf(dark));
    return tables.get(dark);
  };

  /** The colour of a package, as legends show it. */
  profkit.packageColor = (index, dark = profkit.isDark()) => {
    const { name, kind } = head.packages[index];
    return kindColor(kind, hash(name), 0, dark);
  };

  /** An sRGB colour from lightness (0 to 1), chroma and hue in degrees, of the space OKLCH. */
  profkit.oklch = (lightness, chroma, hue) => {
    const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
    // From OKLab to linear sRGB: https://bottosson.github.io/posts/oklab/
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const linear = [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
    return `#${linear.map(hexOf).join("")}`;
  };

  function paletteOf(dark) {
    const { name, package: of } = head.functions;
    const fills = name.map((text, fn) => {
      const { name: own, kind } = head.packages[of[fn]];
      return kindColor(kind, hash(own), ((hash(text) % 5) - 2) / 2, dark);
    });
    const tone = (light, night) => (dark ? night : light);
    return {
      fills,
      text: "#10131a",
      root: tone("#dfe2e8", "#8b93a3"),
      small: tone("#e9ebef", "#2b303b"),
      match: tone("#a21caf", "#d946ef"),
      matchText: tone("#ffffff", "#14061a"),
      ink: tone("#1a1d24", "#e8eaf0"),
      faint: tone("#6b7280", "#98a1b3"),
      chosen: tone("#3b2a12", "#fff4e0"),
      line: tone("#e3e6eb", "#2b303b"),
      ground: tone("#ffffff", "#14171e"),
      ring: tone("#1d4ed8", "#8ab4ff"),
    };
  }

  function kindColor(kind, number, step, dark) {
    const shade = allNative && kind === "native" ? "library" : kind;
    const [lightness, chroma, from, to] = (dark ? DARK : LIGHT)[shade];
    return profkit.oklch(lightness + step * SPREAD, chroma, from + (number % 997) / 997 * (to - from));
  }

  function hexOf(linear) {
    const bounded = Math.min(1, Math.max(0, linear));
    const value = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055;
    return Math.round(value * 255).toString(16).padStart(2, "0");
  }

  /** FNV-1a: the same on every machine and in every version. */
  function hash(text) {
    let value = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
    return value >>> 0;
  }
}
