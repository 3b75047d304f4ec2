/** So many bytes that look random, the same for the same seed here and there: by xorshift32 (Marsaglia, 2003). */
export function bytes(seed, size) {
  const words = new Uint32Array(Math.ceil(size / 4));
  let x = (seed >>> 0) + 1;
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    words[i] = x;
  }
  return new Uint8Array(words.buffer, 0, size);
}
