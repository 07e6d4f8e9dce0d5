import { writeFileSync } from 'node:fs'
import type { Figure } from '../bench.js'
import { type NeighborhoodResults, strategiesPage } from './strategies-page.js'

/** Writes bench/neighborhood/results.json and docs/neighborhood-strategies.md, from the lines that the bench printed. */
export function recordNeighborhood(lines: readonly string[], date: string): void {
  const all = lines.map((line) => JSON.parse(line) as Figure).filter(({ bench }) => bench === 'neighborhood')
  const [first] = all
  if (first === undefined) throw new Error('expected lines of neighborhood, got none')
  const figures = all.map(({ bench: _bench, commit: _commit, node: _node, cpu: _cpu, ...rest }) => rest)
  const results = {
    commit: String(first['commit']),
    machine: `${first['cpu']} (virtual)`,
    node: String(first['node']).replace('v', ''),
    date,
    figures: figures as readonly Figure[],
  } satisfies NeighborhoodResults
  writeFileSync(new URL('results.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL('../../docs/neighborhood-strategies.md', import.meta.url), strategiesPage(results))
}
