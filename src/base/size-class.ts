/** Returns the nearest power of two; 0 for 0. */
export function sizeClass(bytes: number): number {
  if (bytes === 0) return 0
  let power = 1
  while (3 * power < 2 * bytes) power *= 2
  return power
}
