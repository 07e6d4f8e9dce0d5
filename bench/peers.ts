import type { Bench } from './bench.js'
import { beside, type Condition, conditions } from './beside.js'
import type { BuiltPrograms } from './build-programs.js'
import { type Case, ratioAtMost, type Suite, type Target } from './comparison.js'
import { measureSuites } from './measure-suites.js'
import { bytesText } from './message-plans.js'

/** Ranks on two threads compared with the plain loop, a pool of workers and `postMessage`, in turns. */
export const peersBench: Bench = {
  name: 'peers',
  question: 'How fast are two threads, compared with the plain loop, piscina and postMessage?',
  measure: (options = {}) =>
    measureSuites(
      [null],
      (built) => [mandelbrot(built), ...conditions.map((condition) => messages(built, condition))],
      [],
      options,
    ),
}

const loops = 9

function mandelbrot(built: BuiltPrograms): Suite {
  const against = (baseline: 'plain' | 'piscina'): Case => ({
    case: `Mandelbrot loop, 2 threads, vs ${baseline === 'plain' ? 'the plain loop' : 'piscina'}`,
    unit: 'ms',
    ...{ ours: 'ours', key: 'loopMs', baselines: [baseline], isPaired: true },
  })
  return {
    name: 'mandelbrot',
    implementations: [
      built.onThreads('ours', { program: 'mandelbrot', ranks: 2, args: { loops } }, 120),
      built.withoutRanks('plain', 'bare-piscina', ['plain', String(loops)], 120),
      built.withoutRanks('piscina', 'bare-piscina', ['piscina', String(loops)], 120),
    ],
    cases: [against('plain'), against('piscina')],
  }
}

const sizes = [8, 65_536, 1_048_576]
/** Ratios of half round trips by size, on a quiet machine, and at most anywhere. */
const quietAtMost: Readonly<Record<number, Target>> = {
  8: ratioAtMost(0.15),
  65536: ratioAtMost(0.3),
  1048576: ratioAtMost(0.4),
}
const busyAtMost = ratioAtMost(1.2)

function messages(built: BuiltPrograms, condition: Condition): Suite {
  const { text, busy, restarting } = condition
  return {
    name: `messages ${text}`,
    runs: 5,
    implementations: [
      built.onThreads('ours', { program: 'round-trips', ranks: 2, args: { sizes } }, 120),
      built.withoutRanks('MessagePort', 'bare-message-port', sizes.map(String), 120),
    ].map((implementation) => beside(implementation, condition)),
    cases: sizes.map((sizeBytes) => ({
      case: `half round trip, ${bytesText(sizeBytes)}, ${text}, vs MessagePort`,
      unit: 'us',
      ...{ ours: 'ours', key: String(sizeBytes), baselines: ['MessagePort'], isPaired: true },
      target: busy + restarting === 0 ? quietAtMost[sizeBytes] : busyAtMost,
    })),
  }
}
