import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { below, mulberry32 } from '../../src/base/random.js'
import { type Bench, type Figure, ownFigure } from '../bench.js'
import { equivalents } from './equivalents.js'
import { type MutantSuite, mutantSuites } from './mutant-suites.js'
import { applied, describeMutant, lineOf, type SourceMutant, sourceMutants } from './source-mutants.js'
import { TreeCopy } from './tree-copy.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Percent of the mutants that tests notice, at least. */
const target = 85
/** Mutants of a folder that are tried. */
const [sample, quickSample] = [30, 10]

interface MutantOfFile extends SourceMutant {
  readonly path: string
}

/**
 * How many small changes of the sources do tests notice? A sample of every folder, drawn with a seed
 * (`--seed`, by default 1; `--sample` many of each). A mutant that makes a run hang counts as noticed, one
 * known to be without effect does not count. Those that are not noticed are listed on standard error: a
 * missing test, or a change without effect.
 */
export const mutantsBench: Bench = {
  name: 'mutants',
  question: 'How many small changes of the sources do the unit tests notice?',
  async *measure({ quick = false, only = '', ...given } = {}) {
    const seed = integerOf('seed', given.seed, 1)
    const most = integerOf('sample', given.sample, quick ? quickSample : sample)
    const tree = new TreeCopy(root)
    let [noticed, tried] = [0, 0]
    for (const suite of mutantSuites.filter(({ folder }) => folder.startsWith(only))) {
      const score = await scoreOf(tree, suite, most, seed)
      noticed += score.noticed
      tried += score.tried
      yield figure(suite.folder, score.noticed, score.tried, { mutants: score.mutants, seed })
    }
    yield figure('all', noticed, tried, { seed })
    tree.remove()
  },
}

function figure(name: string, noticed: number, tried: number, details: Record<string, number>): Figure {
  const percent = tried === 0 ? 0 : (100 * noticed) / tried
  const own = ownFigure(`${name}: ${noticed} of ${tried} drawn`, '%', [percent], target, {
    noticed,
    tried,
    ...details,
    targetIs: 'at least',
  })
  return { ...own, met: percent >= target }
}

async function scoreOf(
  tree: TreeCopy,
  { folder, tests, further }: MutantSuite,
  most: number,
  seed: number,
): Promise<{ readonly noticed: number; readonly tried: number; readonly mutants: number }> {
  const all = mutantsIn(tree, folder)
  const drawn = drawnFrom(all, most, seed)
  const [limit, furtherLimit] = [await limitOf(tree, tests), await limitOf(tree, further)]
  let noticed = 0
  for (const mutant of drawn) {
    const text = tree.read(mutant.path)
    tree.write(mutant.path, applied(text, mutant))
    const isNoticed =
      (await tree.test(tests, limit)) !== 'passed' || (await tree.test(further, furtherLimit)) !== 'passed'
    tree.write(mutant.path, text)
    if (isNoticed) noticed++
    else console.error(`not noticed: ${mutant.path}:${mutant.line} ${describeMutant(text, mutant)}`)
  }
  return { noticed, tried: drawn.length, mutants: all.length }
}

function mutantsIn(tree: TreeCopy, folder: string): MutantOfFile[] {
  const names = readdirSync(join(tree.folder, 'src', folder))
    .filter((name) => name.endsWith('.ts'))
    .sort()
  return names.flatMap((name) => {
    const path = `src/${folder}/${name}`
    const text = tree.read(path)
    return sourceMutants(text)
      .map((mutant) => ({ ...mutant, path }))
      .filter((mutant) => !isEquivalent(text, mutant))
  })
}

function isEquivalent(text: string, mutant: MutantOfFile): boolean {
  const line = lineOf(text, mutant).split('\n')[0]
  return equivalents.some(
    (one) => one.path === mutant.path && one.replacement === mutant.replacement && one.line === line,
  )
}

/** A sample without repetitions, in the order of the sources. */
function drawnFrom<T>(all: readonly T[], most: number, seed: number): T[] {
  const random = mulberry32(seed)
  const indices = all.map((_, i) => i)
  for (let i = 0; i < Math.min(most, all.length); i++) {
    const j = i + below(random, all.length - i)
    ;[indices[i], indices[j]] = [indices[j], indices[i]]
  }
  return indices
    .slice(0, most)
    .sort((a, b) => a - b)
    .map((i) => all[i]!)
}

/** @throws Error for what is no number */
function integerOf(option: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new Error(`--${option}: expected an integer, got '${given}'`)
}

/** Seconds after which a run with a mutant does not end: several times as many as without. */
async function limitOf(tree: TreeCopy, tests: readonly string[]): Promise<number> {
  const start = performance.now()
  const outcome = await tree.test(tests, 300)
  if (outcome !== 'passed') throw new Error(`tests ${tests.join(', ')}, unchanged: ${outcome}`)
  return 10 + (4 * (performance.now() - start)) / 1000
}
