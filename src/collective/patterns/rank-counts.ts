import type { Shape } from './algorithm.js'
import { ceilLog2 } from './values.js'

// These functions return why an algorithm cannot serve a number of ranks; null if it can.

export function onlyTwo({ ranks }: Shape): string | null {
  return ranks === 2 ? null : `the number of ranks must be 2, got ${ranks}`
}

export function onlyEven({ ranks }: Shape): string | null {
  return ranks % 2 === 0 || ranks === 1 ? null : `the number of ranks must be even, got ${ranks}`
}

export function onlyPowersOfTwo({ ranks }: Shape): string | null {
  return 2 ** ceilLog2(ranks) === ranks ? null : `the number of ranks must be a power of two, got ${ranks}`
}
