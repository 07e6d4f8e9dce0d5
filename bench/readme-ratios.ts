// The comparison in README, written by `npm run bench:docs`.
import { type MarkedTable, tableOf } from '../scripts/marked-tables.js'
import { ratioOf, timesText } from './result-texts.js'
import type { ResultFile } from './results-file.js'

/** A row: at what and with whom Rankweave is compared, and the cases of a table whose ratios it has. */
type Row = readonly [what: string, file: string, title: string, cases: RegExp]

const c = 'Compared with C on Open MPI'
const toOneKiB = /^ping-pong, half round trip, (8 B|64 B|1 KiB)$/
const fromQuarterMiB = /^ping-pong, half round trip, (256 KiB|512 KiB|\d+ MiB), alloc$/

const rows: readonly Row[] = [
  ['two threads: the plain loop', 'peers', 'Compared with the plain loop', /./],
  ['the same: piscina', 'peers', 'Compared with piscina', /./],
  ['messages up to 1 KiB: Open MPI', 'threads', c, toOneKiB],
  ['from 256 KiB on, in `world.alloc` memory', 'threads', c, fromQuarterMiB],
  ['8 B beside a busy process', 'threads', c, /8 B, beside one busy process, not bound$/],
  ['the same, `--bind-to core`', 'threads', c, /8 B, beside one .*, bound to cores$/],
  ['neighbor exchanges: C packed by hand', 'threads', 'Compared with C packed by hand', /./],
  [
    'MPI neighbor allgathers: without the library',
    ...(['shim', 'The same program with the library and without it', /: neighbor allgather/] as const),
  ],
]

/** Returns the table: how much longer or shorter Rankweave takes, from the least to the greatest ratio. */
export function readmeRatios(files: readonly ResultFile[]): MarkedTable {
  const cells = rows.map(([what, name, title, cases]) => {
    const table = files.find((file) => file.name === name)?.tables.find((one) => one.title === title)
    const figures = table?.figures.filter((figure) => cases.test(figure.case)) ?? []
    const ratios = figures.map((figure) => ratioOf(figure)!).sort((a, b) => a - b)
    if (ratios.length === 0) throw new Error(`${name} has no ${cases} in '${title}'`)
    return [what, rangeText(ratios[0], ratios.at(-1)!)]
  })
  const table = tableOf(['at: compared with', 'time'], cells)
  return { page: 'README.md', mark: 'compared', table }
}

function rangeText(least: number, most: number): string {
  const [low, high] = [least, most].map(timesText)
  return low === high ? low : `${low} to ${high}`
}
