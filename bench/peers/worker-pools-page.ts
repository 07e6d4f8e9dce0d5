// The tables of docs/worker-pools.md, written by `npm run bench:docs`.
import { type MarkedTable, tableOf } from '../../scripts/marked-tables.js'
import { measured, ratioText } from '../result-texts.js'
import type { ResultFigure, ResultFile } from '../results-file.js'

const page = 'docs/worker-pools.md'
const plain = 'Compared with the plain loop'
const quiet = 'Compared with the best pool'
const busy = 'Beside one busy process, compared with the best pool'

/** Tables whose rows compare one figure of ours with one of a baseline. */
const others = [
  'Compared with bare Atomics',
  'More ranks than cores, compared with the best pool',
  'Small tasks, compared with the best pool',
  'Start and end of workers, compared with the best pool',
  'Message rate, compared with postMessage',
  'Long messages, compared with postMessage',
]

/** The tables of results that docs/worker-pools.md has, so that other pages can leave them out. */
export const titlesOfPools: readonly string[] = [plain, quiet, busy, ...others]

/** Returns both tables. */
export function workerPoolsTables(files: readonly ResultFile[]): readonly MarkedTable[] {
  const tables = files.find(({ name }) => name === 'peers')?.tables ?? []
  const figuresOf = (title: string) => tables.find((table) => table.title === title)?.figures ?? []
  const programs = figuresOf(quiet).map((figure) => {
    const what = nameOf(figure)
    const [single, besideOther] = [plain, busy].map((title) =>
      figuresOf(title).find((each) => nameOf(each) === what),
    )
    return [
      ...[what, single === undefined ? '' : shown(single.peer!, 'ms'), shown(figure.ours, 'ms')],
      ...[peerText(figure, ''), ratioText(figure)],
      besideOther === undefined ? '' : `${ratioText(besideOther)}, ${besideOther.peerName}`,
    ]
  })
  const rows = others.flatMap((title) => {
    const baseline = tables.find((table) => table.title === title)?.baseline ?? ''
    return figuresOf(title).map((figure) => {
      const what = figure.case.replace(/, vs [^,]*$/, '')
      return [what, shown(figure.ours, figure.unit), peerText(figure, baseline), ratioText(figure)]
    })
  })
  const programHeads = [
    'two threads',
    'plain loop',
    'Rankweave',
    'best pool',
    'ratio',
    'beside a busy process',
  ]
  const otherHeads = ['what', 'Rankweave', 'compared with', 'ratio']
  return [
    { page, mark: 'programs', table: withOrigin([quiet, busy], tableOf(programHeads, programs)) },
    { page, mark: 'other figures', table: withOrigin(others, tableOf(otherHeads, rows)) },
  ]

  /** A table after a line about where its figures come from, and how busy other programs kept the machine. */
  function withOrigin(titles: readonly string[], table: string): string {
    const origins = tables.filter(({ title }) => titles.includes(title))
    if (origins.length === 0) return 'No figures are recorded yet.'
    const where = origins.map(({ machine, software, date }) => [machine, ...software, date].join(', '))
    const load = Math.max(...origins.map(({ coresBusy }) => coresBusy ?? 0))
    const said = `${[...new Set(where)].join('; ')}. Before the runs, other programs used at most ${load.toFixed(2)} cores.`
    return `${said}\n\n${table}`
  }
}

const nameOf = (figure: ResultFigure) => figure.case.replace(/, 2 threads.*$/, '')

const peerText = ({ peer, peerName, unit }: ResultFigure, baseline: string) =>
  `${shown(peer!, unit)}, ${peerName ?? baseline}`

/** A figure of three digits. */
function shown(value: number, unit: string): string {
  return measured(Number(value.toPrecision(3)), undefined, unit)
}
