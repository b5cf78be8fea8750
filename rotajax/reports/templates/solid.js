// The solid of a task as the renderers have it (Appendix G): columns (x, y), float32, with 31 depths z each.
const SAMPLES = 31, COLUMNS = 90000, MASK = 512, RADIUS = 28;
const f32 = Math.fround;
// The nearest whole number, half to even: beyond 2^52 a double has no other.
const rint = (value) => (value + 6755399441055744) - 6755399441055744;

// The bytes of a text that the report packed: zlib in base64.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function makeSolid(task) {
  const bits = await unpack(task.mask), pixels = [];
  for (let k = 0; k < MASK * MASK; k++) if (bits[k >> 3] & (128 >> (k & 7))) pixels.push(k);
  const count = Math.min(pixels.length, COLUMNS), [left, top, radius] = task.circle;
  const plane = (pixel, centre) => (1.24 * (rint(937.5 * (pixel - 256)) / 10000) - centre) * (0.98 * RADIUS / radius);
  const x = new Float32Array(count), y = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const k = pixels[pixels.length > count ? Math.floor(i * (pixels.length - 1) / (count - 1)) : i];
    x[i] = plane(k % MASK, left);
    y[i] = plane(Math.floor(k / MASK), top);
  }
  return { x, y, z: depths(x, y, task.seed) };
}

// Of each column its two ends, then pseudorandom samples between them (Equations 5 and 10).
function depths(x, y, seed) {
  const z = new Float32Array(SAMPLES * x.length);
  for (let i = 0, at = 0; i < x.length; i++) {
    const half = f32(Math.sqrt(Math.max(f32(f32(RADIUS * RADIUS - f32(x[i] * x[i])) - f32(y[i] * y[i])), 0)));
    const column = seed ^ Math.imul(i, 0x9e3779b1);
    z[at++] = -half;
    z[at++] = half;
    for (let j = 2; j < SAMPLES; j++) {
      let word = column + Math.imul(j, 0x85ebca77);
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      word ^= word >>> 15;
      z[at++] = ((word >>> 8) * 2 ** -23 - 1) * half;
    }
  }
  return z;
}
