/**
 * How much a run tests. `test`: `npm test`, on every change. `soak`: `npm run soak`, every class of cases and
 * few of them. `long`: `npm run soak:long`, all of them.
 */
export type Tier = 'test' | 'soak' | 'long'

export const tier: Tier = (process.env['RANKWEAVE_TIER'] ?? 'test') as Tier

/** Whether the run is longer than `npm test`. */
export const isSoak = tier !== 'test'

/**
 * What draws of longer runs begin with: the number of the commit, so that a run can be repeated and another commit
 * draws others. RANKWEAVE_SOAK_SEED, an integer from 0 to 2^31 - 1, replaces it.
 */
export const soakSeed = Number(process.env['RANKWEAVE_SOAK_SEED'] ?? 0)

/** What the tier of this run takes of three. */
export const perTier = <T>(choices: Readonly<Record<Tier, T>>): T => choices[tier]

/** Every `nth` row of a table in `npm test`, from the first; all of them in longer runs. */
export const daily = <T>(rows: readonly T[], nth: number): readonly T[] =>
  isSoak ? rows : rows.filter((_, n) => n % nth === 0)

/**
 * Number of random cases: `everyDay` in `npm test`, half of `count` unless given; 2 times and 10 times
 * `count`.
 */
export const cases = (count: number, everyDay = Math.ceil(count / 2)): number =>
  perTier({ test: everyDay, soak: Math.max(everyDay, 2 * count), long: 10 * count })

/**
 * `count` in `npm run soak:long`, a tenth in `npm run soak`, but at least `everyDay`, which `npm test` takes.
 */
export const demanded = (count: number, everyDay: number): number =>
  perTier({ test: everyDay, soak: Math.max(everyDay, Math.ceil(count / 10)), long: count })

/** Every `nth` row of a table in `npm run soak`, from the first; all of them in `npm run soak:long`. */
export const sampled = <T>(rows: readonly T[], nth: number): readonly T[] =>
  tier === 'long' ? rows : rows.filter((_, n) => n % nth === 0)

/** Every `nth` row of a table in `npm run soak`, other rows for other commits; all of them in `npm run soak:long`. */
export const inTurn = <T>(rows: readonly T[], nth: number): readonly T[] =>
  tier === 'long' ? rows : rows.filter((_, n) => n % nth === soakSeed % nth)
