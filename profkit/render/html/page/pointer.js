/* Mouse, pen and fingers on the graph. */
{
  const { graph } = profkit;
  const { canvas, scroller } = graph;
  /** A press that moves less than this is a click. */
  const STILL_PX = 5;
  const WHEEL_ZOOM = 0.0035;
  const pressed = new Map();
  let press = null;

  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const begin = (place) => ({ ...place, top: scroller.scrollTop, window: graph.window() });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pressed.set(event.pointerId, placeOf(event));
    press = { ...begin(placeOf(event)), moved: pressed.size > 1, pinch: pinchOf() };
  });

  canvas.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (!pressed.has(event.pointerId)) return profkit.showTip(event, graph.at(place.x, place.y));
    pressed.set(event.pointerId, place);
    if (!press.moved && Math.hypot(place.x - press.x, place.y - press.y) < STILL_PX) return undefined;
    if (!press.moved) canvas.setPointerCapture(event.pointerId);
    press.moved = true;
    profkit.hideTip();
    if (press.pinch) pinch();
    else drag(event, place);
    return undefined;
  });

  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      pressed.delete(event.pointerId);
      // The finger that stays goes on from where it is.
      for (const place of pressed.values()) press = { ...begin(place), moved: true, pinch: null };
    });
  }

  canvas.addEventListener("pointerleave", () => profkit.hideTip());

  canvas.addEventListener("click", (event) => {
    if (press?.moved || event.detail > 1) return;
    const { x, y } = placeOf(event);
    const frame = graph.at(x, y);
    if (!frame) return;
    if (frame.small) profkit.showWindow(weightsOf(frame), "graph");
    else profkit.zoomTo(frame.spot);
  });

  canvas.addEventListener("dblclick", () => profkit.zoomOut());

  canvas.addEventListener("wheel", (event) => {
    const width = canvas.clientWidth;
    const [across, along] = event.shiftKey ? [event.deltaY || event.deltaX, 0] : [event.deltaX, event.deltaY];
    // Pinching on a touchpad arrives as a wheel with Ctrl; the plain wheel scrolls, as everywhere.
    if (event.ctrlKey || event.metaKey) {
      profkit.zoomBy(Math.exp(event.deltaY * WHEEL_ZOOM), placeOf(event).x / width, "drag");
    } else if (Math.abs(across) > Math.abs(along)) profkit.panBy(across / width, "drag");
    else return;
    event.preventDefault();
  }, { passive: false });

  function drag(event, place) {
    const [from, to] = press.window;
    const shift = ((press.x - place.x) / canvas.clientWidth) * (to - from);
    profkit.showWindow([from + shift, to + shift], "drag");
    // A finger's way up and down is the browser's, see touch-action.
    if (event.pointerType === "mouse") scroller.scrollTop = press.top + press.y - place.y;
  }

  function pinchOf() {
    if (pressed.size !== 2) return null;
    const [a, b] = [...pressed.values()].map(({ x }) => x);
    return { middle: (a + b) / 2, apart: Math.max(10, Math.abs(a - b)) };
  }

  function pinch() {
    const now = pinchOf();
    if (!now) return;
    const [from, to] = press.window;
    const width = (to - from) * (press.pinch.apart / now.apart);
    const fixed = from + (to - from) * (press.pinch.middle / canvas.clientWidth);
    const start = fixed - width * (now.middle / canvas.clientWidth);
    profkit.showWindow([start, start + width], "drag");
  }

  function weightsOf({ x, width }) {
    const [from, to] = graph.window();
    const scale = (to - from) / canvas.clientWidth;
    return [from + Math.max(0, x) * scale, from + (x + width) * scale];
  }
}
