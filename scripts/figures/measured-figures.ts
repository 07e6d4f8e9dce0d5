import { type ResultFigure, type ResultTable, readResults } from '../../bench/results-file.js'
import { type FigureLine, figure } from './page-figures.js'

// README's summary of measured figures, which bench/results has with its machine, date and commit.

const compared = [
  ['threads', 'Compared with C on Open MPI'],
  ['threads', 'Compared with C packed by hand'],
  ['mpi', 'Compared with C on the same library'],
] as const

function tables(): readonly ResultTable[] {
  const files = readResults()
  return compared.map(([name, title]) => {
    const found = files.find((file) => file.name === name)?.tables.find((table) => table.title === title)
    if (found === undefined) throw new Error(`bench/results has no '${title}' of ${name}`)
    return found
  })
}

/** How many times as fast C is: rates and bandwidths are better where they are higher. */
function timesFaster({ unit, ours, peer }: ResultFigure): number {
  return unit === 'us' ? ours / peer! : peer! / ours
}

/** The least and the most of the cases of these names, in any of the tables. */
function row(label: string, isMeant: (name: string) => boolean): FigureLine {
  return {
    page: 'README.md',
    line: `| ${label} | {} to {} times |`,
    values: async () => {
      const cases = tables().flatMap(({ figures }) => figures.filter((each) => isMeant(each.case)))
      const times = cases.map(timesFaster).sort((a, b) => a - b)
      return [times[0], times.at(-1)!].map((each) => figure(each, each < 10 ? 1 : 0))
    },
  }
}

const ofLengths = (what: string, lengths: readonly string[], who = '(?:(?:Open MPI|MPICH): )?') => {
  const pattern = new RegExp(`^${who}${what}, (?:${lengths.join('|')})(?:, vs C)?$`)
  return (name: string) => pattern.test(name)
}

export const measuredFigures: readonly FigureLine[] = [
  row('latency up to 1 KiB', ofLengths('ping-pong, half round trip', ['8 B', '64 B', '1 KiB'])),
  row('message rate', ofLengths('message rate', ['8 B'])),
  row('bandwidth of 1 MiB on MPI', ofLengths('bandwidth', ['1 MiB'], '(?:Open MPI|MPICH): ')),
  row('exchanges packed by hand', (name) => name.endsWith(', vs C packed by hand')),
  {
    page: 'README.md',
    line: 'Measured on {} on {} by `npm run bench`.',
    values: async () => {
      const all = tables()
      const [dates, machines] = [all.map(({ date }) => date), all.map(({ machine }) => machine)].map((each) =>
        [...new Set(each)].sort().join(' and '),
      )
      return [dates, machines]
    },
  },
]
