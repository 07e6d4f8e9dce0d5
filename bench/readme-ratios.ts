// The comparison in README, written by `npm run bench:docs`.
import { type MarkedTable, tableOf } from '../scripts/marked-tables.js'
import { ratioOf, timesText } from './result-texts.js'
import type { ResultFile } from './results-file.js'

/** A row: what is compared with what, and the cases of a table whose ratios it has. */
type Row = readonly [what: string, baseline: string, file: string, title: string, cases: RegExp]

const c = 'Compared with C on Open MPI'
const posted = 'Compared with postMessage'
const toOneKiB = /^ping-pong, half round trip, (8 B|64 B|1 KiB)$/
const fromQuarterMiB = /^ping-pong, half round trip, (256 KiB|512 KiB|\d+ MiB), alloc$/

const rows: readonly Row[] = [
  ['seven programs, two threads', 'plain loop', 'peers', 'Compared with the plain loop', /./],
  ['', '[best pool](docs/worker-pools.md)', 'peers', 'Compared with the best pool', /./],
  ['messages, 8 B to 1 MiB', '`postMessage`', 'peers', posted, /beside nothing/],
  ['beside other programs', '`postMessage`', 'peers', posted, /beside (?!nothing)/],
  ['messages up to 1 KiB', 'C on Open MPI', 'threads', c, toOneKiB],
  ['from 256 KiB, in `world.alloc`', 'C on Open MPI', 'threads', c, fromQuarterMiB],
  ['neighbor exchanges', 'C packed by hand', 'threads', 'Compared with C packed by hand', /./],
]

/** Returns the table: how many times as fast Rankweave is, or how many times as long it takes, from the least to the greatest ratio. */
export function readmeRatios(files: readonly ResultFile[]): MarkedTable {
  const cells = rows.map(([what, baseline, name, title, cases]) => {
    const table = files.find((file) => file.name === name)?.tables.find((one) => one.title === title)
    const figures = table?.figures.filter((figure) => cases.test(figure.case)) ?? []
    const ratios = figures.map((figure) => ratioOf(figure)!).sort((a, b) => a - b)
    if (ratios.length === 0) throw new Error(`${name} has no ${cases} in '${title}'`)
    return [what, baseline, rangeText(ratios[0], ratios.at(-1)!)]
  })
  const table = tableOf(['what', 'baseline', 'Rankweave'], cells)
  return { page: 'README.md', mark: 'compared', table }
}

/** Prints ratios of times in words: `1.3 to 1.8 times as fast`, or `2.2 to 3.9 times as long`. */
function rangeText(least: number, most: number): string {
  if (least > 1) return `${endsText(least, most)} times as long`
  if (most < 1) return `${endsText(1 / most, 1 / least)} times as fast`
  return `${endText(1 / least)} times as fast to ${endText(most)} times as long`
}

const endText = (times: number) => timesText(times).replace('x', '')

function endsText(least: number, most: number): string {
  const [low, high] = [endText(least), endText(most)]
  return low === high ? low : `${low} to ${high}`
}
