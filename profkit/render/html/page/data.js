/* Columns: base64 in the page, deflated; typed arrays on one buffer once unpacked. */
{
  const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
  let buffer = new ArrayBuffer(0);

  /** Unpack all columns; `column` works after that. The packed text leaves the document: it is large. */
  profkit.unpackColumns = async () => {
    const element = document.getElementById("profkit-columns");
    const packed = bytesOf(element.textContent);
    element.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    buffer = await new Response(stream).arrayBuffer();
  };

  /** The column of that name as a typed array, empty where the page has none. */
  profkit.column = (name) => {
    const place = profkit.head.columns[name];
    return place ? new KINDS[place.kind](buffer, place.offset, place.count) : new Uint32Array(0);
  };

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }
}
