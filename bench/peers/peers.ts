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
        wholePrograms(built, { name: 'programs', ranks: 2, of: programs, isFull: true }),
        wholePrograms(built, { name: 'busy', ranks: 2, of: programs, condition: besideBusyProcess }),
        wholePrograms(built, { name: 'crowded', ranks: 8, of: crowded }),
        smallTasks(built),
        ...[1, 2, 4, 8].map((workers) => starts(built, workers)),
        rate(built),
        longMessages(built),
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
/** Those that more ranks than cores compute. */
const crowded = { heat: programs.heat, kMeans: programs.kMeans } as const
/** Those that threads with shared memory alone compute. */
const onAtomics: readonly string[] = ['heat', 'sparseProduct', 'kMeans']
const pools = ['piscina', 'tinypool', 'workerpool', 'comlink', 'postMessage'] as const
/** Those that give the next task to a free thread; the others deal tasks to the threads in turn. */
const queues = ['piscina', 'tinypool', 'workerpool'] as const
const threads = 2
const limitSeconds = 120
const rounds = 5
const programAtMost = ratioAtMost(1)
const busyProgramAtMost = ratioAtMost(1.1)

interface WholePrograms {
  readonly name: string
  readonly ranks: number
  /** What programs are called, by name. */
  readonly of: Readonly<Record<string, string>>
  readonly condition?: Condition
  /** Whether the plain loop, piscina and bare Atomics are reported, too. */
  readonly isFull?: true
}

function wholePrograms(built: BuiltPrograms, { name, ranks, of, condition, isFull }: WholePrograms): Suite {
  const names = Object.keys(of)
  const on = ranks === threads ? `${threads} threads` : `${ranks} ranks on ${threads} threads`
  const where = condition === undefined ? on : `${on}, ${condition.text}`
  const against = (key: string, baseline: string, baselines = [baseline], target?: Target): Case => ({
    case: `${of[key]}, ${where}, vs ${baseline}`,
    unit: 'ms',
    ...{ ours: 'ours', key, baselines, isPaired: true },
    ...(target === undefined ? {} : { target }),
  })
  const target = condition === undefined ? programAtMost : busyProgramAtMost
  const implementations = [
    inRanks(built, ranks, threads, names),
    ...pools.map((pool) => inPool(built, pool, threads, ranks, names)),
  ]
  if (isFull)
    implementations.push(
      inPool(built, 'plain', 1, 1, names),
      built.withoutRanks('bare Atomics', 'peers/on-atomics', [String(threads), ...onAtomics], limitSeconds),
    )
  return {
    name,
    runs: rounds,
    implementations:
      condition === undefined ? implementations : implementations.map((one) => beside(one, condition)),
    cases: names.flatMap((key) => [
      ...(isFull ? [against(key, 'the plain loop', ['plain'])] : []),
      ...(isFull && key === 'mandelbrot' ? [against(key, 'piscina')] : []),
      against(key, 'the best pool', [...pools], target),
      ...(isFull && onAtomics.includes(key) ? [against(key, 'bare Atomics')] : []),
    ]),
  }
}

function inRanks(
  built: BuiltPrograms,
  ranks: number,
  processes: number,
  names: readonly string[],
  name = 'ours',
) {
  const args = { names }
  return built.onThreads(name, { program: '../peers/whole-programs', ranks, processes, args }, limitSeconds)
}

/** @param parts tasks into which a program is divided */
function inPool(built: BuiltPrograms, pool: string, size: number, parts: number, names: readonly string[]) {
  const words = [pool, String(size), String(parts), ...names]
  return built.withoutRanks(pool, 'peers/in-pool', words, limitSeconds)
}

/** Tasks that are handed out have a thread that hands them out, as the main thread of a pool does. */
function smallTasks(built: BuiltPrograms): Suite {
  const against = (ours: string, key: string, what: string, baselines: readonly string[]): Case => ({
    case: `small tasks ${what}, 10,000 tasks, vs the best pool`,
    unit: 'ms',
    ...{ ours, key, baselineKey: 'dividedTasks', baselines, isPaired: true },
  })
  return {
    name: 'tasks',
    runs: rounds,
    implementations: [
      inRanks(built, threads, threads, ['dividedTasks'], 'divided'),
      inRanks(built, threads + 1, threads + 1, ['handedOutTasks'], 'handed out'),
      ...pools.map((pool) => inPool(built, pool, threads, threads, ['dividedTasks'])),
    ],
    cases: [
      against('divided', 'dividedTasks', 'divided beforehand', pools),
      against('handed out', 'handedOutTasks', 'handed out one by one', queues),
    ],
  }
}

/** Whole programs: from the start of Node until every worker has answered once, and all has ended. */
function starts(built: BuiltPrograms, workers: number): Suite {
  return {
    name: `start of ${workers}`,
    runs: rounds,
    implementations: [
      inRanks(built, workers, workers, ['answers']),
      ...pools.map((pool) => inPool(built, pool, workers, workers, ['answers'])),
    ],
    cases: [
      {
        case: `start and end of ${workers} ${workers === 1 ? 'worker' : 'workers'}, whole program, vs the best pool`,
        unit: 'ms',
        ...{ ours: 'ours', key: 'wallMs', baselines: [...pools], isPaired: true },
      },
    ],
  }
}

const windowMessages = 64

/** Messages one way, and an answer for each window of them. */
function rate(built: BuiltPrograms): Suite {
  const sizeBytes = 8
  return {
    name: 'rate',
    runs: rounds,
    implementations: roundTrips(built, [sizeBytes], windowMessages),
    cases: [
      {
        ...halfTrip(`message of ${bytesText(sizeBytes)}, ${windowMessages} one way`, sizeBytes),
        convert: (halfTripUs) => (2 * halfTripUs) / windowMessages,
      },
    ],
  }
}

function longMessages(built: BuiltPrograms): Suite {
  return {
    name: 'long messages',
    runs: rounds,
    implementations: roundTrips(built, [longMessage]),
    cases: [halfTrip(`half round trip, ${bytesText(longMessage)}`, longMessage)],
  }
}

function roundTrips(built: BuiltPrograms, of: readonly number[], window = 1) {
  const args = { sizes: of, window }
  return [
    built.onThreads('ours', { program: 'round-trips', ranks: 2, args }, limitSeconds),
    built.withoutRanks('MessagePort', 'bare-message-port', [window, ...of].map(String), limitSeconds),
  ]
}

const halfTrip = (what: string, sizeBytes: number): Case => ({
  case: `${what}, vs MessagePort`,
  unit: 'us',
  ...{ ours: 'ours', key: String(sizeBytes), baselines: ['MessagePort'], isPaired: true },
})

const sizes = [8, 65_536, 1_048_576]
const longMessage = 16 * 2 ** 20
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
    runs: rounds,
    implementations: roundTrips(built, sizes).map((implementation) => beside(implementation, condition)),
    cases: sizes.map((sizeBytes) => ({
      ...halfTrip(`half round trip, ${bytesText(sizeBytes)}, ${text}`, sizeBytes),
      target: busy + restarting === 0 ? quietAtMost[sizeBytes] : busyAtMost,
    })),
  }
}
