/** How much longer `npm run soak` lets property tests run than `npm test`; 1 in `npm test`. */
export const soakFactor = Number(process.env['RANKWEAVE_SOAK_FACTOR'] ?? 1)

/**
 * Number of random cases: `everyDay` in `npm test`, half of `count` unless given; a multiple of `count` in
 * `npm run soak`.
 */
export const cases = (count: number, everyDay = Math.ceil(count / 2)): number =>
  soakFactor === 1 ? everyDay : count * soakFactor

/** As many as something demands in `npm run soak`, whatever the factor, and `everyDay` in `npm test`. */
export const demanded = (count: number, everyDay: number): number => (soakFactor === 1 ? everyDay : count)
