import { algorithms } from '../../src/collective/algorithms.js'
import type { Algorithm } from '../../src/collective/patterns/algorithm.js'
import { atDefaults } from '../../src/collective/patterns/parameterized.js'
import { leastSize, scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import type { ComparedAlgorithms } from '../../src/cost/choose/choose-algorithm.js'
import { LeastTimes } from '../../src/cost/choose/lower-bounds.js'
import { type CutAlgorithm, settingText } from '../../src/cost/choose/settings.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import type { Machine } from '../../src/machine/machine.js'

/** A setting that might be faster than the chosen one. */
export interface Rival {
  readonly text: string
  readonly setting: CutAlgorithm
  /** By our simulator. */
  readonly timeUs: number
}

/** Operations of the largest schedule of a setting that is not a default. */
const mostOperations = 2 ** 17
const segmentCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const parameterValues = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
const leastSegmentBytes = 64

/**
 * Every algorithm at its defaults and over a grid of its parameters and segments, whatever the choice looked at: the
 * fastest two of each, by our simulator, unless they take a quarter longer than the chosen one.
 */
export function rivalsOf(choice: ComparedAlgorithms, machine: Machine): readonly Rival[] {
  const { collective, ranks, root, bytes, chosen } = choice
  const shape = { ranks, root }
  const limitUs = 1.25 * chosen.timeUs
  const leastTimes = new LeastTimes(machine, shape, bytes)
  return algorithms
    .filter((algorithm) => algorithm.collective === collective)
    .flatMap((algorithm) => {
      const rivals: Rival[] = []
      for (const setting of gridOf(algorithm, bytes)) {
        const cut = { ...shape, segments: setting.segments }
        if ((setting.algorithm.refuses?.(cut) ?? null) !== null) continue
        const isDefault = setting.segments === 1 && setting.algorithm.id === atDefaults(algorithm).id
        if (!isDefault && leastSize(setting.algorithm, cut, undefined).operations > mostOperations) continue
        if (leastTimes.of(setting.algorithm, setting.segments) > limitUs) continue
        const { timeUs } = simulate(scheduleOf(setting.algorithm, cut), machine, { bytes })
        if (timeUs < limitUs) rivals.push({ text: settingText(setting), setting, timeUs })
      }
      return rivals.sort((a, b) => a.timeUs - b.timeUs).slice(0, 2)
    })
}

function gridOf(algorithm: Algorithm, bytes: number): CutAlgorithm[] {
  const most = Math.max(1, Math.floor(bytes / leastSegmentBytes))
  const variants = Object.entries(algorithm.parameters ?? {}).flatMap(
    ([name, { least = 1, most: largest = 64 }]) =>
      parameterValues
        .filter((value) => value >= least && value <= largest)
        .map((value) => algorithm.with!({ [name]: value })),
  )
  return [algorithm, ...variants].flatMap((variant) =>
    segmentCounts
      .filter((segments) => segments <= most)
      .map((segments) => ({ algorithm: variant, segments })),
  )
}
