import { availableParallelism } from 'node:os'
import { type Bench, type BenchOptions, type Figure, ownFigure } from '../bench.js'
import { drawMutants, roomOf } from './draw-mutants.js'
import type { SuiteName } from './in-copy/mutant-run.js'
import { equalKill, type Mutant, MutantResults, type ReachingFile, reaching } from './mutant-results.js'
import { MutatedCopy, objectOf } from './mutated-copy.js'

/** Test files that run with a mutant have this many seconds, and so many times the time that they take unchanged. */
const [graceSeconds, graceFactor] = [10, 4]

/**
 * How many small changes of all sources does a suite notice? All mutants are built at once into a copy of HEAD and
 * chosen when a program runs, so one run of the suite tells which test files reach which mutant, and only those
 * run with it. A mutant that makes a test file hang counts as noticed. Not counted is what lint and the compiler
 * notice, and what only processes without the environment of the test or pages of a browser run.
 */
export const mutantsBench: Bench = {
  name: 'mutants',
  question: 'How many small changes of the sources do the tests notice?',
  async *measure(options = {}) {
    const { compare } = options
    if (compare === undefined) yield* figuresOf(await measured(options))
    else {
      const [before, after] = compare.split(',').map((path) => new MutantResults(path))
      if (before === undefined || after === undefined)
        throw new Error(`--compare: expected BEFORE,AFTER, got '${compare}'`)
      yield comparison(before, after)
    }
  },
}

async function measured(options: BenchOptions): Promise<MutantResults> {
  const { suite = 'test', tests = 'HEAD', only = '' } = options
  if (suite !== 'test' && suite !== 'soak') throw new Error(`--suite: expected test or soak, got '${suite}'`)
  const results = new MutantResults(options.out)
  const subject = {
    kind: 'subject' as const,
    ...{ src: objectOf('HEAD:src'), test: objectOf(`${tests}:test`) },
    seed: integerOf('seed', options.seed, 1),
    // The switch in C knows numbers below 4096.
    sample: Math.min(integerOf('sample', options.sample, options.quick ? 40 : 400), 4095),
  }
  if (results.subject !== undefined && JSON.stringify(results.subject) !== JSON.stringify(subject))
    throw new Error(`${options.out} has results of ${JSON.stringify(results.subject)}`)

  const copy = new MutatedCopy('HEAD', tests)
  const sources = copy.sources()
  const drawn = drawMutants(sources, subject.sample, subject.seed, (source, text) =>
    copy.compiles(source, text),
  )
  copy.build(sources, drawn)
  if (results.subject === undefined) {
    const lines = drawn.map(({ id, path, line, change }) => ({
      kind: 'mutant' as const,
      id,
      path,
      line,
      change,
    }))
    results.add(subject, ...lines)
  }
  if (results.reach(suite) === undefined) {
    const words = only.split(',').filter((word) => word !== '')
    results.add({ kind: 'reach', suite, files: await copy.reach(suite, words) })
  }
  const files = results.reach(suite)!
  for (const { path } of files.filter(({ state }) => state === 'failed'))
    console.error(`fails without a mutant and is left out: ${path}`)
  await tryMutants(copy, results, suite, files, options)
  return results
}

/** Tries all mutants that no suite has killed and that this one has not tried. */
async function tryMutants(
  copy: MutatedCopy,
  results: MutantResults,
  suite: SuiteName,
  files: readonly ReachingFile[],
  options: BenchOptions,
): Promise<void> {
  const other = options.reuse === undefined ? undefined : new MutantResults(options.reuse)
  const mostSeconds = 60 * integerOf('minutes', options.minutes, 2)
  const tried = new Set(results.results.flatMap((result) => (result.suite === suite ? result.id : [])))
  const kills = results.kills()
  const open = results.mutants.filter(({ id }) => !kills.has(id) && !tried.has(id)).values()
  const tryNext = async (): Promise<void> => {
    for (const mutant of open) {
      const equal = other && equalKill(other, suite, mutant.id, files)
      results.add(equal ?? (await resultOf(copy, suite, mutant, files, mostSeconds)))
    }
  }
  const jobs = integerOf('jobs', options.jobs, availableParallelism())
  await Promise.all(Array.from({ length: jobs }, tryNext))
}

async function resultOf(
  copy: MutatedCopy,
  suite: SuiteName,
  mutant: Mutant,
  files: readonly ReachingFile[],
  mostSeconds: number,
) {
  const all = reaching(mutant, files)
  const secondsTo = (end: number) => all.slice(0, end).reduce((sum, { seconds }) => sum + seconds, 0)
  // The first runs however long it takes.
  const within = all.filter((_, i) => i === 0 || secondsTo(i + 1) <= mostSeconds)
  const limits = within.map(({ path, seconds }) => [path, graceSeconds + graceFactor * seconds] as const)
  const { files: ended, hasPassed } =
    within.length === 0 ? { files: [], hasPassed: true } : await copy.kill(suite, mutant.id, limits)
  const killer = ended.find(({ state }) => state === 'failed' || state === 'late')
  return {
    kind: 'result' as const,
    ...{ suite, id: mutant.id },
    killedBy: killer?.path ?? (hasPassed ? null : 'the run'),
    isLate: killer?.state === 'late',
    tried: ended.length,
    cut: all.length - within.length,
    isReused: false,
  }
}

function* figuresOf(results: MutantResults): Iterable<Figure> {
  const kills = results.kills()
  const rooms = new Set(results.mutants.map(({ path }) => roomOf(path)))
  for (const room of rooms)
    yield figure(
      room,
      results.mutants.filter(({ path }) => roomOf(path) === room),
      results,
    )
  yield figure('all', results.mutants, results)
  for (const mutant of results.mutants)
    if (!kills.has(mutant.id)) console.error(`lives: ${described(mutant)}`)
}

function figure(name: string, mutants: readonly Mutant[], results: MutantResults): Figure {
  const kills = results.kills()
  const ids = new Set(mutants.map(({ id }) => id))
  const own = results.results.filter(({ id }) => ids.has(id))
  const tried = new Set(own.map(({ id }) => id))
  const killed = own.filter(({ killedBy }) => killedBy !== null)
  const reached = new Set(
    own.flatMap(({ id, tried, cut, isReused }) => (tried + cut > 0 || isReused ? id : [])),
  )
  const percent = tried.size === 0 ? 0 : (100 * killed.length) / tried.size
  return ownFigure(`${name}: ${killed.length} of ${tried.size} drawn`, '%', [percent], null, {
    ...{ noticed: killed.length, tried: tried.size, reached: reached.size },
    late: killed.filter(({ isLate }) => isLate).length,
    livesWithFilesCut: new Set(own.flatMap(({ id, cut }) => (cut > 0 && !kills.has(id) ? id : []))).size,
    seed: results.subject!.seed,
  })
}

/** Two suites on the same mutants. */
function comparison(before: MutantResults, after: MutantResults): Figure {
  const [ours, theirs] = [after.subject!, before.subject!]
  if (ours.src !== theirs.src || ours.seed !== theirs.seed || ours.sample !== theirs.sample)
    throw new Error('--compare: expected results of the same sources, seed and sample')
  const [noticedBefore, noticedAfter] = [before.kills(), after.kills()]
  const lost = after.mutants.filter(({ id }) => noticedBefore.has(id) && !noticedAfter.has(id))
  const shown = lost.map((mutant) => `lost: ${described(mutant)} (${noticedBefore.get(mutant.id)!.killedBy})`)
  return {
    ...ownFigure('mutants noticed after, of those drawn', '', [noticedAfter.size], null),
    peer: noticedBefore.size,
    ratio: noticedAfter.size / noticedBefore.size,
    ...{ drawn: after.mutants.length, lost: lost.length, shown: shown.join('\n    ') },
  }
}

const described = ({ id, path, line, change }: Mutant): string => `${id} ${path}:${line} ${change}`

/** @throws Error for what is no number */
function integerOf(option: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new Error(`--${option}: expected an integer, got '${given}'`)
}
