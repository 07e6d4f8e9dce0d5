import { availableParallelism } from 'node:os'
import { type Bench, type BenchOptions, type Figure, ownFigure } from '../bench.js'
import { drawMutants, roomOf } from './draw-mutants.js'
import type { SuiteName } from './in-copy/mutant-run.js'
import { type Mutant, MutantResults, type Outcome, type ReachingFile, type Result } from './mutant-results.js'
import { MutatedCopy, objectOf } from './mutated-copy.js'

/** With a mutant, a test file has so many seconds, and so many times those that it takes unchanged. */
const [graceSeconds, graceFactor] = [10, 4]

/**
 * How many small changes of the sources does a suite notice? The bench builds all mutants into one copy of HEAD,
 * which chooses one when a program runs. One run of the suite tells which test files reach which mutant, and only
 * those run with it. A mutant that makes a test file hang counts as noticed. The bench does not count what lint and
 * the compiler notice, and what only pages run, or processes without the environment of the test.
 */
export const mutantsBench: Bench = {
  name: 'mutants',
  question: 'How many small changes of the sources do the tests notice?',
  async *measure(options = {}) {
    const { compare } = options
    if (compare === undefined) yield* figuresOf(await measured(options))
    else {
      const [before, after] = compare.split(',')
      yield comparison(new MutantResults(before), new MutantResults(after))
    }
  },
}

async function measured(options: BenchOptions): Promise<MutantResults> {
  const { suite = 'test', tests = 'HEAD', only, out, living } = options
  if (suite !== 'test' && suite !== 'soak') throw new Error(`--suite: expected test or soak, got '${suite}'`)
  const [seed, sample] = [
    integerOf('seed', options, 1),
    integerOf('sample', options, options.quick ? 40 : 400),
  ]
  const subject = { src: objectOf('HEAD:src'), test: objectOf(`${tests}:test`), seed, sample }
  const results = new MutantResults(out)
  const copy = new MutatedCopy(tests)
  const sources = copy.sources()
  const drawn = drawMutants(sources, sample, seed, (source, text) => copy.compiles(source, text))
  const mutants = drawn.map(({ id, path, line, change }) => ({ id, path, line, change }))
  if (results.drawn === undefined) results.add({ subject, mutants })
  else if (JSON.stringify(results.drawn) !== JSON.stringify({ subject, mutants }))
    throw new Error(`${out} has results of other mutants, or tests: ${JSON.stringify(results.drawn.subject)}`)
  const alsoIn = living === undefined ? results : new MutantResults(living)
  demandSameMutants('--living', results, alsoIn)
  copy.build(sources, drawn)
  if (results.filesOf(suite) === undefined)
    results.add({ suite, files: await copy.reach(suite, only?.split(',') ?? []) })
  const files = results.filesOf(suite)!
  for (const { path } of files.filter(({ state }) => state === 'failed'))
    console.error(`fails without a mutant and is left out: ${path}`)

  const others = alsoIn.outcomes()
  const open = results
    .outcomes()
    .filter((each, i) => isAlive(each) && !each.suites.includes(suite) && isAlive(others[i]!))
    .values()
  const mostSeconds = 60 * integerOf('minutes', options, 2)
  const tryNext = async (): Promise<void> => {
    for (const mutant of open) results.add(await resultOf(copy, suite, mutant, files, mostSeconds))
  }
  const jobs = integerOf('jobs', options, availableParallelism())
  await Promise.all(Array.from({ length: jobs }, tryNext))
  return results
}

/** Tries the test files that reach a mutant: those of its room first, quick ones first. */
async function resultOf(
  copy: MutatedCopy,
  suite: SuiteName,
  { id, path }: Mutant,
  files: readonly ReachingFile[],
  mostSeconds: number,
): Promise<Result> {
  const isOther = (file: ReachingFile) => Number(!file.path.startsWith(`test/unit/${path.split('/')[1]}/`))
  const all = files
    .filter(({ state, reached }) => state === 'passed' && reached.includes(id))
    .sort((a, b) => isOther(a) - isOther(b) || a.seconds - b.seconds)
  const secondsTo = (end: number) => all.slice(0, end).reduce((sum, { seconds }) => sum + seconds, 0)
  // The first runs however long it takes.
  const within = all.filter((_, i) => i === 0 || secondsTo(i + 1) <= mostSeconds)
  const cut = all.length - within.length
  if (within.length === 0) return { suite, id, killedBy: null, isLate: false, tried: 0, cut }
  const limits = within.map((file) => [file.path, graceSeconds + graceFactor * file.seconds] as const)
  const ended = await copy.kill(suite, id, limits)
  const killer = ended.files.find(({ state }) => state === 'failed' || state === 'late')
  const killedBy = killer?.path ?? (ended.hasPassed ? null : 'the run')
  return { suite, id, killedBy, isLate: killer?.state === 'late', tried: ended.files.length, cut }
}

function* figuresOf(results: MutantResults): Iterable<Figure> {
  const outcomes = results.outcomes()
  for (const room of new Set(outcomes.map(({ path }) => roomOf(path)))) {
    const own = outcomes.filter(({ path }) => roomOf(path) === room)
    yield figure(room, own)
  }
  yield figure('all', outcomes)
  for (const outcome of outcomes.filter(isAlive)) {
    const { tried, cut } = outcome
    console.error(`lives, ${tried} of ${tried + cut} test files tried: ${described(outcome)}`)
  }
}

function figure(name: string, own: readonly Outcome[]): Figure {
  const alive = own.filter(isAlive)
  const noticed = own.length - alive.length
  return ownFigure(`${name}: ${noticed} of ${own.length}`, '%', [(100 * noticed) / own.length], null, {
    ...{ noticed, drawn: own.length, reached: own.filter(({ tried }) => tried > 0).length },
    livesWithFilesCut: alive.filter(({ cut }) => cut > 0).length,
  })
}

/**
 * Two suites on the same mutants. What the suite before has not tried, as option `living` lets it, counts as noticed
 * there: so the ratio is at least the one that is told.
 */
function comparison(before: MutantResults, after: MutantResults): Figure {
  demandSameMutants('--compare', before, after)
  const [outcomes, later] = [before.outcomes(), after.outcomes()]
  const lost = outcomes.filter((outcome, i) => !isAlive(outcome) && isAlive(later[i]!))
  const noticed = later.filter((each) => !isAlive(each)).length
  const peer = outcomes.filter((each) => !isAlive(each) || each.suites.length === 0).length
  const shown = lost
    .map((each) => `noticed before only, by ${each.killedBy}: ${described(each)}`)
    .join('\n    ')
  const own = ownFigure(`noticed of ${later.length} mutants`, '', [noticed], null)
  return {
    ...own,
    peer,
    ratio: noticed / peer,
    lost: lost.length,
    ...(shown === '' ? {} : { shown }),
  }
}

const isAlive = ({ killedBy }: Outcome): boolean => killedBy === null

const described = ({ id, path, line, change }: Mutant): string => `${id} ${path}:${line} ${change}`

/** @throws Error for results of other mutants, or of none */
function demandSameMutants(option: string, one: MutantResults, other: MutantResults): void {
  const identity = ({ drawn }: MutantResults) => JSON.stringify([drawn?.subject.src, drawn?.mutants])
  if (one.drawn === undefined || identity(one) !== identity(other))
    throw new Error(`${option}: expected results of the same mutants`)
}

/** @throws Error for what is no number */
function integerOf(name: 'seed' | 'sample' | 'jobs' | 'minutes', options: BenchOptions, otherwise: number) {
  const given = options[name] ?? String(otherwise)
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new Error(`--${name}: expected an integer, got '${given}'`)
}
