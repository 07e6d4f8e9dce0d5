import { markdown } from '../markdown-table.js'
import { queueCase, queueLengths, queuePrograms } from './queue-programs.js'

/** A figure of the bench `matching`, as it is measured or as it is stored. */
interface QueueFigure {
  readonly case: string
  readonly ours: number | null
  readonly peer?: number | null
}

/** Microseconds per receive by number of messages, a table in Markdown. */
export function queueTable(figures: readonly QueueFigure[]): string {
  const byCase = new Map(figures.map((figure) => [figure.case, figure]))
  const rows = queuePrograms.flatMap(({ what }) =>
    queueLengths.flatMap((messages) => {
      const of = (side: string) => byCase.get(queueCase(what, messages, side))
      const threads = of('threads')
      if (threads === undefined) return []
      const ours = [threads, of('Open MPI'), of('MPICH')].map((figure) => figure?.ours ?? null)
      const inC = [threads.peer ?? null, of('C on MPICH')?.ours ?? null]
      return [[what, messages.toLocaleString('en-US'), ...[...ours, ...inC].map(timeText)]]
    }),
  )
  const heads = ['program', 'unexpected', 'threads', 'Open MPI', 'MPICH', 'C on Open MPI', 'C on MPICH']
  return markdown(heads, rows)
}

/** Three digits. */
function timeText(us: number | null): string {
  return us === null ? '' : `${Number(us.toPrecision(3)).toLocaleString('en-US')} us`
}
