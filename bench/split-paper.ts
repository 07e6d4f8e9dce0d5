/** Table 2.1 of Sack 2011, totals in seconds by millions of entries; columns are 2, 4, ..., 64 sorters. */
export const sorterCounts = [2, 4, 8, 16, 32, 64] as const

export const paperTotals: Readonly<Record<number, readonly number[]>> = {
  8: [0.27, 0.17, 0.1, 0.07, 0.06, 0.1],
  16: [0.55, 0.35, 0.2, 0.12, 0.09, 0.11],
  32: [1.09, 0.7, 0.42, 0.24, 0.15, 0.15],
  64: [2.24, 1.41, 0.84, 0.48, 0.28, 0.22],
  128: [4.39, 2.82, 1.69, 0.97, 0.56, 0.37],
}
