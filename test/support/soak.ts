/** How much longer `npm run soak` lets property tests run than `npm test`. */
export const soakFactor = Number(process.env['RANKWEAVE_SOAK_FACTOR'] ?? 1)

/** Number of random cases: `count` in `npm test`, a multiple of it in `npm run soak`. */
export const cases = (count: number): number => count * soakFactor
