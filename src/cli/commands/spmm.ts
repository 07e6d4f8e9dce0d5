import { z } from 'zod'
import { nodeOf } from '../../machine/machine.js'
import { plan, planStatistics } from '../../neighborhood/plan/plan.js'
import { randomDense, toDense } from '../../neighborhood/spmm/dense-matrix.js'
import { stencilMatrix } from '../../neighborhood/spmm/sample-matrices.js'
import { maxRelativeError, serialProduct } from '../../neighborhood/spmm/serial.js'
import { checkProblem, type SpmmShare } from '../../neighborhood/spmm/spmm.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import { readMatrixMarket } from '../../topology/matrix/matrix-market.js'
import { topologyFromMatrix } from '../../topology/matrix/matrix-topology.js'
import { topologyStatistics } from '../../topology/topology-statistics.js'
import { openInputOn } from '../input/open-input.js'
import { parseOptions, whole } from '../input/options.js'
import { machineHelp } from '../input/spec-help.js'
import {
  addStrategyOptions,
  chooseStrategy,
  refuseNeedlessFriends,
  strategySchema,
} from '../input/strategy-options.js'
import { addWorldOptions, fabricOf, reportOf, worldSchema } from '../input/world-options.js'
import { exitCodes } from '../output/exit-codes.js'
import { groupProgress, type Reporter, readProgress } from '../output/reporter.js'
import { type SpmmOutcome, spmmText, tolerance } from '../output/spmm-report.js'
import { runOwnProgram } from '../program/run-own-program.js'
import main from '../program/spmm-program.js'
import type { AddCommand } from './command.js'

const help = `${machineHelp}

C = A x B. The rows of A, B and C are distributed over the ranks in blocks. A rank needs the rows of B that match the
columns of its part of A: these needs are the process topology. The exchange is a neighbor allgather, planned once and
repeated for every --columns columns of B. The baseline is an allgather, which sends all of B to every rank. Both products
are compared with a serial product.

A.mtx and B.mtx are real Matrix Market files, also compressed by gzip; - is standard input. The default A is an irregular
stencil of 4,096 rows, the default B a dense matrix of seeded numbers.

Examples:
  rankweave spmm -n 64
  rankweave spmm A.mtx -n 32 --strategy direct
  rankweave spmm A.mtx -n 64 --k 4 --machine cluster:nodes=4,cores=16 --processes 4
  rankweave spmm A.mtx B.mtx -n 16 --columns 8 --json`

const schema = z.object({
  ...worldSchema,
  ...strategySchema,
  columns: whole(1, 2 ** 20),
  width: whole(1, 2 ** 20),
  ordinary: z.boolean(),
})

/** `rankweave spmm`: a product, from matrix to check. */
export const spmmCommand: AddCommand = (program, act) => {
  const command = program
    .command('spmm')
    .description(
      'Multiply a sparse matrix by a dense one, with neighbor allgathers planned from its sparsity pattern.',
    )
    .argument('[A.mtx]', 'sparse matrix; default: a generated one')
    .argument('[B.mtx]', 'matrix to multiply by; default: seeded numbers')
  addStrategyOptions(addWorldOptions(command))
    .option('--columns <number>', 'columns of B per exchange', '4')
    .option('--width <number>', 'columns of a generated B', '8')
    .option('--no-ordinary', 'leave out the baseline allgather')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, fileA: string | undefined, fileB: string | undefined, raw: unknown) => {
        const options = parseOptions(schema, raw)
        const { ranks, columns } = options
        refuseNeedlessFriends(command, options.strategy)
        const { strategy, machine } = chooseStrategy(options)
        const fabric = fabricOf(options)
        const open = openInputOn(fabric.kind)
        const { processes } = fabric
        const started = performance.now()

        report.step(fileA === undefined ? 'generating A' : `reading ${fileA}`)
        const a =
          fileA === undefined
            ? stencilMatrix(sample)
            : readMatrixMarket(fileA, { open, onProgress: readProgress(report, fileA) })
        if (fileB !== undefined) report.step(`reading ${fileB}`)
        const b =
          fileB === undefined
            ? randomDense(a.cols, options.width, 1)
            : toDense(readMatrixMarket(fileB, { open, onProgress: readProgress(report, fileB) }))

        report.step(`planning for ${ranks} ranks`)
        const topology = topologyFromMatrix(a, { ranks })
        await prepareEngine(options.engine)
        const nodes = machine === null ? null : nodeOf(machine, ranks)
        const planned = plan(topology, strategy, {
          ...(nodes === null ? {} : { nodeOf: nodes }),
          onProgress: groupProgress(report),
        })
        const statistics = planStatistics(planned, nodes)
        const problem = {
          a,
          b,
          topology,
          strategy,
          columnsAtOnce: columns,
          compare: options.ordinary,
          ...(machine === null ? {} : { machine }),
        }
        checkProblem(problem)

        report.step('multiplying')
        const world = { ranks, fabric, args: problem, report: reportOf(options) }
        const shares = await runOwnProgram('spmm-program', main, world)
        if (shares === null) return exitCodes.ok
        report.step('comparing with the serial product')
        const expected = serialProduct(a, b.values, b.cols)
        const error = Math.max(
          maxRelativeError(joined(shares.map(({ product }) => product)), expected),
          options.ordinary ? maxRelativeError(joined(shares.map(({ ordinary }) => ordinary)), expected) : 0,
        )
        const counted = messagesPerExchange(shares)
        const { direct, planned: messagesPlanned } = statistics.messages
        // A B without columns needs no exchange.
        const asPlanned = counted === (b.cols === 0 ? 0 : messagesPlanned)
        const verified = error <= tolerance && asPlanned
        const took = shares[0].seconds
        const object: SpmmOutcome = {
          matrix: { file: fileA ?? null, rows: a.rows, cols: a.cols, nnz: a.values.length },
          b: { file: fileB ?? null, rows: b.rows, cols: b.cols },
          columns: b.cols,
          columnsPerExchange: Math.min(columns, b.cols),
          ranks,
          processes,
          fabric: fabric.kind,
          topology: topologyStatistics(topology),
          strategy: statistics.strategy,
          mode: strategy.kind === 'common-neighbor' ? strategy.mode : null,
          k: statistics.k,
          theta: statistics.theta,
          messages: { direct, planned: messagesPlanned, counted, interNode: statistics.messages.interNode },
          maxRelativeError: error,
          verified,
          seconds: {
            plan: planned.planMs / 1000,
            neighbor: took.neighbor,
            ordinary: took.ordinary,
            total: (performance.now() - started) / 1000,
          },
        }
        report.result(object, spmmText(object))
        return verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

/** The generated matrix: a stencil wide enough for many common neighbors. */
const sample = { side: 64, radius: 10, density: 0.08, seed: 1 }

/** The ranks' rows of C, one after another. */
function joined(parts: readonly (Float64Array | null)[]): Float64Array {
  const blocks = parts.map((part) => part ?? new Float64Array(0))
  const whole = new Float64Array(blocks.reduce((size, block) => size + block.length, 0))
  let next = 0
  for (const block of blocks) {
    whole.set(block, next)
    next += block.length
  }
  return whole
}

/** Messages that one exchange sent, counted by every process for all its ranks. */
function messagesPerExchange(shares: readonly SpmmShare[]): number {
  const trafficOf = new Map(shares.map(({ process, traffic }) => [process, traffic]))
  let messages = 0
  for (const traffic of trafficOf.values()) {
    if (traffic.calls > 0) messages += (traffic.messagesSent + traffic.messagesInProcess) / traffic.calls
  }
  return messages
}
