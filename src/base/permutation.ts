/**
 * Returns the inverse, which has i at place `permutation[i]`.
 *
 * @param permutation of 0 to its length - 1; it is not checked
 */
export function inversePermutation(permutation: ArrayLike<number>): Int32Array {
  const inverse = new Int32Array(permutation.length)
  for (let i = 0; i < permutation.length; i++) inverse[permutation[i]] = i
  return inverse
}
