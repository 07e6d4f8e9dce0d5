/** Calls of a function on a communicator, and the calls of each outcome. */
export interface ReportedCalls {
  readonly communicator: string
  readonly name: string
  readonly calls: number
  readonly outcomes: Readonly<Record<string, number>>
}

/** The lines about functions in a report of the preloaded library. */
export function reportedCalls(report: string): ReportedCalls[] {
  const lines = report.matchAll(/^rankweave shim: (.*): (MPI_\w+): (\d+) calls?: (.*)$/gm)
  return [...lines].map(([, communicator, name, calls, outcomes]) => {
    const counts = outcomes.split('; ').map((part) => {
      const [, count, outcome] = /^(\d+) (.*)$/.exec(part)!
      return [outcome, Number(count)] as const
    })
    return { communicator, name, calls: Number(calls), outcomes: Object.fromEntries(counts) }
  })
}
