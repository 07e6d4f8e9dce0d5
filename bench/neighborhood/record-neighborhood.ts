import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Figure } from '../bench.js'
import { caseOf, reference, summaries } from './cells.js'
import type { NeighborhoodResults } from './strategies-page.js'

const file = new URL('results.json', import.meta.url)

/**
 * Writes bench/neighborhood/results.json from lines that the bench printed, of some suites, cells or all. Figures of
 * these cases replace those recorded before; the others stay.
 */
export function recordNeighborhood(lines: readonly string[], date: string): void {
  const all = lines.map((line) => JSON.parse(line) as Figure).filter(({ bench }) => bench === 'neighborhood')
  const [first] = all
  if (first === undefined) throw new Error('expected lines of neighborhood, got none')
  const measured = all.map(
    ({ bench: _bench, node: _node, cpu: _cpu, ...rest }) => ({ ...rest, date }) as Figure,
  )
  const before = existsSync(file) ? readNeighborhood().figures : []
  const results = {
    machine: `${first['cpu']} (virtual)`,
    node: String(first['node']).replace('v', ''),
    figures: merged(before, measured),
  } satisfies NeighborhoodResults
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

/** What is recorded. */
export function readNeighborhood(): NeighborhoodResults {
  return JSON.parse(readFileSync(file, 'utf8')) as NeighborhoodResults
}

/** Cells in the order of the reference, what is counted over all of them, then the other figures. */
function merged(before: readonly Figure[], measured: readonly Figure[]): readonly Figure[] {
  const byCase = new Map([...before, ...measured].map((figure) => [figure.case, figure]))
  const cells = reference.cells.flatMap((cell) => byCase.get(caseOf(cell)) ?? [])
  for (const { case: name } of cells) byCase.delete(name)
  const others = [...byCase.values()].filter(({ unit }) => unit !== 'cells')
  const { commit, date } = measured[measured.length - 1]
  const counts = Array.from(summaries(cells), (figure) => ({ ...figure, commit, date }) as Figure)
  return [...cells, ...counts, ...others]
}
