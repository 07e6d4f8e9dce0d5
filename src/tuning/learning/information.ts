/**
 * Returns the sum of n lg(N / n) over counts n with sum N. It is the information, in bits, that N cases carry on their
 * class: info(T) of the source times N.
 *
 * @see Pjesivac-Grbovic 2007 Eq. 5.13
 */
export function totalInformation(counts: ArrayLike<number>): number {
  let cases = 0
  let sum = 0
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]
    if (count === 0) continue
    cases += count
    sum += count * Math.log2(count)
  }
  return cases === 0 ? 0 : cases * Math.log2(cases) - sum
}
