import type { Figure } from '../bench.js'
import { markdown } from '../markdown-table.js'
import { queueLengths, queuePrograms } from './queue-programs.js'

const sides = ['threads', 'Open MPI', 'MPICH'] as const

/** Microseconds per receive by number of messages, a table in Markdown. */
export function queueTable(figures: readonly Figure[]): string {
  const rows = queuePrograms.flatMap(({ key, what }) =>
    queueLengths.flatMap((messages) => {
      const of = (side: string) =>
        figures.find(
          (figure) => figure['program'] === key && figure['side'] === side && figure['messages'] === messages,
        )
      const threads = of('threads')
      if (threads === undefined) return []
      const values = [
        ...sides.map((side) => of(side)?.ours ?? null),
        threads.peer,
        of('C on MPICH')?.ours ?? null,
      ]
      return [[what, messages.toLocaleString('en-US'), ...values.map(timeText)]]
    }),
  )
  const heads = ['program', 'unexpected', 'threads', 'Open MPI', 'MPICH', 'C on Open MPI', 'C on MPICH']
  return markdown(heads, rows)
}

/** Three digits. */
function timeText(us: number | null): string {
  return us === null ? '' : `${Number(us.toPrecision(3)).toLocaleString('en-US')} us`
}
