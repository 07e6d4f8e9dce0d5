import type { TopologyStatistics } from '../../topology/topology-statistics.js'
import { change, counted, figure, range, seconds, table } from './reporter.js'

/** A product with a larger relative error than this is wrong. */
export const tolerance = 1e-12

/** What `rankweave spmm --json` prints. */
export interface SpmmOutcome {
  readonly matrix: {
    readonly file: string | null
    readonly rows: number
    readonly cols: number
    readonly nnz: number
  }
  readonly b: { readonly file: string | null; readonly rows: number; readonly cols: number }
  readonly columns: number
  readonly columnsPerExchange: number
  readonly ranks: number
  readonly processes: number
  readonly fabric: string
  readonly topology: TopologyStatistics
  readonly strategy: string
  readonly mode: string | null
  readonly k: number | null
  readonly theta: number | null
  readonly messages: {
    readonly direct: number
    readonly planned: number
    readonly counted: number
    readonly interNode: number | null
  }
  readonly maxRelativeError: number
  readonly verified: boolean
  readonly seconds: {
    readonly plan: number
    readonly neighbor: number
    readonly ordinary: number | null
    readonly total: number
  }
}

/** The text of `rankweave spmm`. */
export function spmmText(outcome: SpmmOutcome): string {
  const { matrix, b, topology, messages, ranks, processes } = outcome
  const { degree } = topology
  const exchanges = Math.ceil(b.cols / outcome.columnsPerExchange)
  const how = outcome.k === null ? '' : `, k=${outcome.k}, theta=${outcome.theta}, ${outcome.mode}`
  return [
    `C = A x B on ${counted(ranks, 'rank', 'ranks')}, ${counted(processes, 'process', 'processes')}, ${outcome.fabric} fabric`,
    '',
    table([
      [
        'A',
        `${figure(matrix.rows)} x ${figure(matrix.cols)}, ${figure(matrix.nnz)} entries, ${matrix.file ?? 'generated'}`,
      ],
      ['B', `${figure(b.rows)} x ${figure(b.cols)}, ${b.file ?? 'generated'}`],
      ['topology', `${figure(topology.edges)} edges, out-degree ${range(degree)}`],
      ['plan', `${outcome.strategy}${how}, made in ${seconds(outcome.seconds.plan)}`],
      [
        'messages',
        `${figure(messages.direct)} direct, ${figure(messages.planned)} planned (${change(messages.planned, messages.direct)}), ${figure(messages.counted)} counted`,
      ],
      [
        'between nodes',
        messages.interNode === null ? null : `${figure(messages.interNode)} planned messages`,
      ],
      ['exchanges', `${exchanges}, up to ${outcome.columnsPerExchange} columns of B each`],
      ['neighbor allgather', seconds(outcome.seconds.neighbor)],
      ['allgather (baseline)', outcome.seconds.ordinary === null ? null : seconds(outcome.seconds.ordinary)],
      [
        'check',
        outcome.verified ? `passed, max relative error ${outcome.maxRelativeError}` : failure(outcome),
      ],
    ]),
  ].join('\n')
}

function failure({ maxRelativeError, messages }: SpmmOutcome): string {
  if (maxRelativeError > tolerance)
    return `FAILED, max relative error ${maxRelativeError} compared with the serial product`
  return `FAILED, ${figure(messages.counted)} messages sent, ${figure(messages.planned)} planned`
}
