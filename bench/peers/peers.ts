import type { Bench } from '../bench.js'
import { beside, besideBusyProcess, type Condition, conditions } from '../beside.js'
import type { BuiltPrograms } from '../build-programs.js'
import { type Case, ratioAtMost, type Suite, type Target } from '../comparison.js'
import { measureSuites } from '../measure-suites.js'
import { bytesText } from '../message-plans.js'

/** Ranks on threads compared with what programs without this library use: pools of workers, and `postMessage`. */
export const peersBench: Bench = {
  name: 'peers',
  question: 'How fast are ranks on threads, compared with the plain loop, pools of workers and postMessage?',
  measure: (options = {}) =>
    measureSuites(
      [null],
      (built) => [
        wholePrograms(built, conditions[0]),
        wholePrograms(built, besideBusyProcess),
        ...conditions.map((condition) => messages(built, condition)),
      ],
      [],
      options,
    ),
}

/** Of programs: what they are called here. */
const programs = {
  pi: 'pi',
  mandelbrot: 'Mandelbrot loop',
  heat: 'heat in 2-D',
  sort: 'sort of 4,000,000 numbers',
  histogram: 'histogram of 10,000,000 numbers',
  sparseProduct: '30 sparse products',
  kMeans: 'k-means',
} as const
const names = Object.keys(programs)
const pools = ['piscina', 'tinypool', 'workerpool', 'comlink', 'postMessage'] as const
const limitSeconds = 120

function wholePrograms(built: BuiltPrograms, condition: Condition): Suite {
  const isQuiet = condition === conditions[0]
  const inPool = (pool: string) =>
    built.withoutRanks(pool, 'peers/in-pool', [pool, '2', '2', ...names], limitSeconds)
  const where = isQuiet ? '' : `, ${condition.text}`
  const against = (key: string, what: string, baseline: string, baselines: readonly string[]): Case => ({
    case: `${what}, 2 threads${where}, vs ${baseline}`,
    unit: 'ms',
    ...{ ours: 'ours', key, baselines, isPaired: true },
    ...(baseline === bestPool ? { target: isQuiet ? programAtMost : busyProgramAtMost } : {}),
  })
  return {
    name: `programs ${condition.text}`,
    runs: 5,
    implementations: [
      built.onThreads(
        'ours',
        { program: '../peers/whole-programs', ranks: 2, args: { names } },
        limitSeconds,
      ),
      ...[...(isQuiet ? ['plain'] : []), ...pools].map(inPool),
    ].map((implementation) => (isQuiet ? implementation : beside(implementation, condition))),
    cases: Object.entries(programs).flatMap(([key, what]) => [
      ...(isQuiet ? [against(key, what, 'the plain loop', ['plain'])] : []),
      ...(isQuiet && key === 'mandelbrot' ? [against(key, what, 'piscina', ['piscina'])] : []),
      against(key, what, bestPool, pools),
    ]),
  }
}

const bestPool = 'the best pool'
const programAtMost = ratioAtMost(1)
const busyProgramAtMost = ratioAtMost(1.1)

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
      built.onThreads('ours', { program: 'round-trips', ranks: 2, args: { sizes } }, limitSeconds),
      built.withoutRanks('MessagePort', 'bare-message-port', sizes.map(String), limitSeconds),
    ].map((implementation) => beside(implementation, condition)),
    cases: sizes.map((sizeBytes) => ({
      case: `half round trip, ${bytesText(sizeBytes)}, ${text}, vs MessagePort`,
      unit: 'us',
      ...{ ours: 'ours', key: String(sizeBytes), baselines: ['MessagePort'], isPaired: true },
      target: busy + restarting === 0 ? quietAtMost[sizeBytes] : busyAtMost,
    })),
  }
}
