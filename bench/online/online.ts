import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { type Bench, type BenchOptions, type Figure, median, ownFigure } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { medianInterval } from '../compare/interval.mjs'
import { type Case, figuresOf, type Suite } from '../comparison.js'
import { bytesText } from '../message-plans.js'
import type { CallCase } from '../programs/calls.js'
import { type Figures, runWithTimeout } from '../run-with-timeout.js'
import { measurePrograms } from './real-programs.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * What online tuning adds to a call. Suites: `added`, worlds that take turns in one process, whose settings all run the
 * algorithm of the rule; `before`, with `--before COMMIT`, calls without online tuning compared with that commit;
 * `programs`, only where it is named: real programs on four nodes, tuned and by default.
 *
 * @see Steiner 2023 §5.4.2
 */
export const onlineBench: Bench = {
  name: 'online',
  question: 'What does online tuning add to a call?',
  async *measure(options: BenchOptions = {}) {
    const { only = '', before } = options
    if ('added'.startsWith(only) || only.startsWith('added')) yield* measureAdded(options)
    if (before !== undefined && ('before'.startsWith(only) || only.startsWith('before')))
      yield* measureBefore(before, options)
    // About half an hour for each program.
    if (only.startsWith('programs')) yield* measurePrograms(options)
  },
}

const fullRuns = 21
const limitSeconds = 300

/** Worlds whose calls are timed: in one process nothing but the call takes time, and a bcast needs two. */
const worlds = [
  { processes: 1, sizeBytes: 8, collective: 'allreduce' },
  { processes: 1, sizeBytes: 1024, collective: 'allreduce' },
  { processes: 1, sizeBytes: 16_384, collective: 'allreduce' },
  { processes: 2, sizeBytes: 8, collective: 'allreduce' },
  { processes: 2, sizeBytes: 8, collective: 'bcast' },
] as const

/** Nanoseconds that may be added; null: the interval has to hold 0. */
const limits = { 'off again': null, 'tuned, not recorded': 150, tuned: 150, tuning: 500 } as const

async function* measureAdded({ quick = false, runs }: BenchOptions): AsyncGenerator<Figure> {
  const folder = mkdtempSync(join(root, 'node_modules/.cache-online-'))
  const program = join(folder, 'forced-calls.mjs')
  try {
    buildSync({
      entryPoints: [fileURLToPath(new URL('forced-calls.ts', import.meta.url))],
      ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', packages: 'external' },
      outfile: program,
    })
    const count = runs === undefined ? (quick ? 3 : fullRuns) : Number(runs)
    const figures: Figures[][] = worlds.map(() => [])
    for (let run = 0; run < count; run++) {
      console.error(`added: round ${run + 1} of ${count}`)
      for (const [i, { processes, sizeBytes, collective }] of worlds.entries()) {
        const words = [program, ...[processes, sizeBytes, collective].map(String)]
        figures[i].push(await runWithTimeout(process.execPath, words, limitSeconds))
      }
    }
    for (const [i, world] of worlds.entries())
      for (const [mode, limit] of Object.entries(limits)) yield addedFigure(world, mode, limit, figures[i])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function addedFigure(
  { processes, sizeBytes, collective }: (typeof worlds)[number],
  mode: string,
  limit: number | null,
  runs: readonly Figures[],
): Figure {
  const added = runs.map((figures) => figures[`${mode} added`])
  const [low, high] = medianInterval(added)
  const off = median(runs.map((figures) => figures['off']))
  const where = processes === 1 ? '1 process' : `${processes} logical processes`
  const name = `${collective} of ${bytesText(sizeBytes)}, ${where}: added by ${mode}`
  const shown = `95% interval ${low.toFixed(0)} to ${high.toFixed(0)} ns; a call without it ${off.toFixed(0)} ns`
  const figure = ownFigure(name, 'ns', added, limit ?? 0, { low, high, off, mode, shown })
  return { ...figure, met: limit === null ? low <= 0 && high >= 0 : high < limit }
}

/** A ratio of times whose whole 95% interval is above this is a loss. */
const intervalLimit = 1.03

async function* measureBefore(commit: string, options: BenchOptions): AsyncGenerator<Figure> {
  const ours = new BuiltPrograms([])
  const older = new BuiltPrograms([], commit)
  try {
    const effort = { warmUp: 20_000, warmUpMs: 2000, iterations: 400, batches: 61 }
    const args = (['allreduce', 'bcast', 'allgather', 'alltoall'] as const).map(
      (call): CallCase => ({ key: call, call, bytes: 8, ...effort }),
    )
    const world = { program: 'calls', ranks: 2, processes: 2, args }
    const suite: Suite = {
      name: 'before',
      runs: fullRuns,
      implementations: [
        ours.onLocal('ours', world, limitSeconds),
        older.onLocal('older', world, limitSeconds),
      ],
      cases: args.map(
        ({ key }): Case => ({
          case: `${key} of 8 B without online tuning, 2 logical processes, vs ${commit}`,
          unit: 'us',
          ours: 'ours',
          key,
          baselines: ['older'],
          intervalLimit,
          details: { older: commit },
        }),
      ),
    }
    yield* figuresOf([suite], options)
  } finally {
    ours.close()
    older.close()
  }
}
