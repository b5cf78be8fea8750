// Silhouette and auxiliary view of a solid under a pose, 320 x 320 grey levels each (Appendix G).
// Marks are kept with a margin as wide as the disk, so that no neighbour of a pixel is outside.
const SIZE = 320, MARGIN = 2, WIDE = SIZE + 2 * MARGIN;
const CROSS = [-WIDE, -1, 0, 1, WIDE];
// Offsets of the 13-pixel disk, and how much brightness falls there.
const NEAR = [-2, -1, 0, 1, 2].flatMap((v) => [-2, -1, 0, 1, 2].map((u) => [u, v])).filter(([u, v]) => u * u + v * v <= 4);
const DISK = NEAR.map(([u, v]) => v * WIDE + u), FALLS = NEAR.map(([u, v]) => Math.floor(2.2 * Math.hypot(u, v)));

function draw(solid, pose) {
  const { x, y, z } = solid, [a, b, c, d, e, f, g, h, i] = pose, slant = f32(1.8);
  const marks = new Int16Array(WIDE * WIDE), grey = new Int16Array(WIDE * WIDE).fill(-1000);
  const pixel = (scale, across, down) =>
    ((rint(f32(160 + f32(scale * down))) | 0) + MARGIN) * WIDE + (rint(f32(160 + f32(scale * across))) | 0) + MARGIN;
  for (let column = 0, k = 0; column < x.length; column++) {
    const across = f32(f32(a * x[column]) + f32(b * y[column]));
    const down = f32(f32(d * x[column]) + f32(e * y[column]));
    const near = f32(f32(g * x[column]) + f32(h * y[column]));
    for (const end = k + SAMPLES; k < end; k++) {
      const u = f32(across + f32(c * z[k])), v = f32(down + f32(f * z[k])), depth = f32(near + f32(i * z[k]));
      marks[pixel(5, u, v)] = 1;
      const level = Math.min(235, Math.max(40, f32(f32(110 + f32(6 * depth)) + f32(slant * u)))) | 0;
      const at = pixel(4.5, u, v);
      if (grey[at] < level) grey[at] = level;
    }
  }
  const disks = dilate(marks, DISK, 0);
  // The closing; outside the picture nothing grows into it and nothing wears it away.
  const gaps = dilate(dilate(disks, CROSS, 1).map((v) => 1 - v), CROSS, 0);
  const view = crop(dilate(grey, DISK, 0, FALLS)).map((v) => Math.max(v, 18));
  return { mask: Uint8Array.from(crop(gaps), (v) => 255 * (1 - v)), view: Uint8Array.from(smooth(smooth(view))) };
}

// The largest value less its fall over a shape at every pixel of the picture; `edge` in the margin.
function dilate(framed, shape, edge, falls) {
  const out = new Int16Array(WIDE * WIDE).fill(-2000);
  for (let k = 0; k < shape.length; k++) {
    const offset = shape[k], fall = falls ? falls[k] : 0;
    for (let at = MARGIN * (WIDE + 1); at < out.length - MARGIN * (WIDE + 1); at++) {
      const value = framed[at + offset] - fall;
      if (out[at] < value) out[at] = value;
    }
  }
  for (let k = 0; k < WIDE; k++) for (let margin = 0; margin < MARGIN; margin++) {
    for (const at of [margin * WIDE + k, (WIDE - 1 - margin) * WIDE + k, k * WIDE + margin, (k + 1) * WIDE - 1 - margin]) {
      out[at] = edge;
    }
  }
  return out;
}

function crop(framed) {
  const out = new Int16Array(SIZE * SIZE);
  for (let v = 0; v < SIZE; v++) {
    const at = (v + MARGIN) * WIDE + MARGIN;
    out.set(framed.subarray(at, at + SIZE), v * SIZE);
  }
  return out;
}

// One Gaussian pass, weights [1 2 1] / 4 a side, rounded half up; borders reflect without the edge.
function smooth(grey) {
  const inside = (k) => (k < 0 ? 1 : k < SIZE ? k : SIZE - 2);
  for (const [along, beside] of [[SIZE, 1], [1, SIZE]]) {
    const out = new Int16Array(SIZE * SIZE);
    for (let k = 0; k < SIZE; k++) {
      const before = inside(k - 1) * along, at = k * along, after = inside(k + 1) * along;
      for (let n = 0; n < SIZE * beside; n += beside) out[at + n] = grey[before + n] + 2 * grey[at + n] + grey[after + n];
    }
    grey = out;
  }
  return grey.map((v) => (v + 8) >> 4);
}

// The pose after an action: a product of rotations, in float32 as the game has it.
function turned(turn, pose) {
  return pose.map((_, k) => {
    const row = k - k % 3, column = k % 3;
    const part = (n) => f32(turn[row + n] * pose[3 * n + column]);
    return f32(f32(part(0) + part(1)) + part(2));
  });
}
