import * as z from 'zod'
import { medianInterval } from '../../base/search.js'
import { namedStrategy, refuseNeedlessFriends } from '../../client/protocol/plan-words.js'
import { svgOf } from '../../document/picture.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { nodeOf } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import { profileOf } from '../../machine/network.js'
import { groupingOf, parseStrategy } from '../../neighborhood/strategies/strategies.js'
import { maxRelativeError, serialProduct, zeros } from '../../spmm/dense-matrix.js'
import { predictExchanges } from '../../spmm/fastest-exchange.js'
import { joinRows } from '../../spmm/matrix-rows.js'
import { parseSpmmStrategy } from '../../spmm/prepared-product.js'
import { type ProductTime, turnRatios } from '../../spmm/product-times.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import { distinctOut } from '../../topology/neighbors.js'
import { topologyStatistics } from '../../topology/topology-statistics.js'
import { readMachine } from '../input/machine-input.js'
import { notFromStandardInput } from '../input/open-input.js'
import { addOptions, json, negation, option, readOptions, whole } from '../input/options.js'
import { spelledBy, strategyOptions } from '../input/plan-options.js'
import { machineHelp } from '../input/spec-help.js'
import { fabricOf, reportOf, worldOptions } from '../input/world-options.js'
import { exitCodes, WorldFailure } from '../output/exit-codes.js'
import { checkOutputs, reportBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { type SpmmOutcome, spmmPicture, spmmText, tolerance } from '../output/spmm-report.js'
import { runOwnProgram } from '../program/run-program.js'
import main, { type SpmmJob, type SpmmResult } from '../program/spmm-program.js'

const help = `${machineHelp}

C = A x B. The rows of A, B and C are distributed over the ranks in blocks. A rank needs the rows of B that match the
columns of its part of A: these needs are the process topology. The exchange is a neighbor allgather, planned once and
repeated for every --columns columns of B. Rows of A that need own rows of B only are multiplied while the others' rows are
in flight. The same product is also computed with direct sends and with an ordinary allgather, which sends all of B to
every rank. All are timed in turn. The first is called faster or slower than another one where the 95% interval of the
ratio of their times in the same turn, from 6 turns or more, excludes 1. All products are compared with a serial product,
for which this process collects A.

--strategy auto tries direct sends, blocks that neighbors read in shared memory where there is such memory, an ordinary
allgather and, where processes have many peers, strategies that combine messages on the fabric, and uses the fastest; with
--machine, which then needs a profile, it uses the one that the simulator finds fastest there.

A.mtx and B.mtx are real Matrix Market files, also compressed by gzip; - is standard input. Every process reads its part of a
file. The default A is an irregular stencil of 4,096 rows, the default B a dense matrix of seeded numbers.

Examples:
  rankweave spmm -n 64
  rankweave spmm A.mtx -n 32 --strategy auto
  rankweave spmm A.mtx -n 64 --k 4 --machine cluster:nodes=4,cores=16 --processes 4
  rankweave spmm -n 256 --processes 256 --strategy routed --width 1 --turns 9 --svg spmm.svg
  rankweave spmm -n 64 --k 4 --predict cluster:nodes=16,cores=4,profile=simgrid-fast
  rankweave spmm A.mtx B.mtx -n 16 --columns 8 --no-check --json`

const optionTable = {
  ...worldOptions,
  ...strategyOptions(['auto']),
  columns: option('--columns <number>', 'columns of B per exchange', whole(1, 2 ** 20), '4'),
  width: option('--width <number>', 'columns of a generated B', whole(1, 2 ** 20), '8'),
  compare: option(
    '--compare',
    'also multiply with direct sends and an ordinary allgather',
    z.boolean(),
    true,
  ),
  noCompare: option('--no-compare', 'leave these out', z.unknown()),
  turns: option(
    '--turns <number>',
    'how often each product is timed; default: up to 9 times in 2 s',
    whole(1, 999),
  ),
  check: negation('--no-check', 'no serial product: no process collects A, B or C'),
  predict: option(
    '--predict <machine>',
    'also predict an exchange on a machine with a profile, a rank per core',
  ),
  svg: option('--svg <file>', 'draw the times, measured and predicted (-: to standard output)'),
  json,
}

export const spmmCommand: AddCommand = (command, act) => {
  addOptions(
    command
      .argument('[A.mtx]', 'sparse matrix; default: a generated one')
      .argument('[B.mtx]', 'matrix to multiply by; default: seeded numbers'),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, fileA: string | undefined, fileB: string | undefined, raw: unknown) => {
        const started = performance.now()
        const options = readOptions(optionTable, raw)
        const { ranks, svg } = options
        const { machine = null } = options
        refuseNeedlessFriends(options, spelledBy(command))
        const strategy = /^auto\b/.test(options.strategy)
          ? parseSpmmStrategy(options.strategy)
          : namedStrategy(options, spelledBy(command))
        const predicted = options.predict === undefined ? null : readMachine(options.predict).machine
        if (predicted !== null) {
          profileOf(predicted)
          nodeOf(predicted, ranks)
        }
        await checkOutputs(report, svg)
        const fabric = fabricOf(options)
        checkInputs(fabric, fileA, fileB)
        await prepareEngine(groupingOf(strategy)?.engine)
        const job: SpmmJob = {
          a: fileA ?? sample,
          b: fileB ?? { cols: options.width, seed: 1 },
          strategy,
          ...(machine === null ? {} : { machine }),
          columnsAtOnce: options.columns,
          compare: options.compare,
          ...(options.turns === undefined ? {} : { turns: options.turns }),
          returnRows: options.check,
        }
        report.step('reading, planning and multiplying')
        const world = { ranks, fabric, args: job, report: reportOf(options) }
        const shares = await runOwnProgram('spmm-program', main, world).catch((error: unknown) => {
          throw badInput(error)
        })
        if (shares === null) return exitCodes.ok
        const { facts, shape, width } = shares[0]
        const { topology, exchange, blockBytes, plan, times } = facts!
        let error: number | null = null
        if (options.check) {
          report.step('comparing with the serial product')
          error = errorOf(shares)
        }
        let predictions: SpmmOutcome['predicted'] = null
        if (predicted !== null) {
          report.step('simulating')
          const used = plan === null ? null : parseStrategy(exchange)
          const exchanges = predictExchanges(topology, predicted, blockBytes, used)
          predictions = { machine: formatMachine(predicted), exchanges }
        }
        const counted = messagesPerExchange(shares)
        const isAsPlanned = plan === null || counted === (width === 0 ? 0 : plan.messages.planned)
        const isRight =
          (error ?? 0) <= tolerance && isAsPlanned && times.every(({ differing }) => differing === 0)
        const outcome: SpmmOutcome = {
          matrix: { file: fileA ?? null, rows: shape.rows, cols: shape.cols, nnz: shape.entries },
          b: { file: fileB ?? null, rows: shape.cols, cols: width },
          columns: width,
          columnsPerExchange: Math.min(options.columns, width),
          blockBytes,
          ranks,
          processes: fabric.processes,
          fabric: fabric.kind,
          topology: topologyStatistics(topology),
          exchange,
          strategy: plan?.strategy ?? exchange,
          mode: groupingOf(strategy)?.mode ?? null,
          k: plan?.k ?? null,
          theta: plan?.theta ?? null,
          messages: {
            direct: distinctOut(topology).rank.length,
            planned: plan?.messages.planned ?? null,
            counted: plan === null ? null : counted,
            interNode: plan?.messages.interNode ?? null,
          },
          tried: facts!.tried,
          measured: times.map((time) => ({
            ...time,
            interval: medianInterval(time.turnSeconds),
            gflops: (2 * shape.entries * width) / time.seconds / 1e9,
            communication: communicationOf(time, fabric),
          })),
          comparison: turnRatios(times),
          predicted: predictions,
          maxRelativeError: error,
          verified: options.check ? isRight : null,
          seconds: {
            plan: plan === null ? null : plan.planMs / 1000,
            total: (performance.now() - started) / 1000,
          },
        }
        if (svg !== undefined) {
          await writeOutput(report, svg, svgOf(spmmPicture(outcome)))
          if (svg !== '-') report.note(`wrote ${svg}`)
        }
        reportBeside(report, svg === '-' ? svg : undefined, outcome, spmmText(outcome))
        return isRight ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

/** The generated matrix: a stencil wide enough for many common neighbors. */
const sample = { side: 64, radius: 10, density: 0.08, seed: 1 }

/** Returns the user's error. Ranks read the input, so bad input fails their world. */
function badInput(error: unknown): unknown {
  const cause = error instanceof WorldFailure ? error.cause : null
  return isRankweaveError(
    cause,
    'ERR_FILE',
    'ERR_MATRIX_MARKET',
    'ERR_ARGUMENT',
    'ERR_STRATEGY',
    'ERR_MACHINE',
  )
    ? cause
    : error
}

/** Returns the share of the time of a product that is not local work. */
function communicationOf(
  { seconds, localSeconds }: ProductTime,
  { places, processes }: FabricFactory,
): number {
  const threads = places === 'one thread' ? 1 : processes
  return Math.max(0, 1 - localSeconds / threads / seconds)
}

/** @throws ERR_USAGE for standard input that cannot be read */
function checkInputs(
  { kind, isJob }: FabricFactory,
  fileA: string | undefined,
  fileB: string | undefined,
): void {
  if (fileA === '-' && fileB === '-')
    throw new RankweaveError('ERR_USAGE', 'expected one input from standard input, got two')
  if (isJob === true && (fileA === '-' || fileB === '-')) throw notFromStandardInput(kind)
}

/** Returns the largest relative error against the serial product, over the rows that all ranks returned. */
function errorOf(shares: readonly SpmmResult[]): number {
  const a = joinRows(shares.map((share) => share.a!))
  const { width } = shares[0]
  const b = joined(
    'B',
    a.cols,
    width,
    shares.map((share) => share.b!.values),
  )
  const product = joined(
    'the product',
    a.rows,
    width,
    shares.map((share) => share.product),
  )
  return maxRelativeError(product, serialProduct(a, b, width))
}

/** Returns the ranks' rows, one after another. */
function joined(what: string, rows: number, cols: number, blocks: readonly Float64Array[]): Float64Array {
  const whole = zeros(`${what}, which is collected for the check (--no-check leaves it out)`, rows, cols)
  let next = 0
  for (const block of blocks) {
    whole.set(block, next)
    next += block.length
  }
  return whole
}

/** Returns the number of messages that one exchange sent, counted by every process for all its ranks. */
function messagesPerExchange(shares: readonly SpmmResult[]): number {
  const trafficOf = new Map(shares.map(({ process, traffic }) => [process, traffic]))
  let messages = 0
  for (const traffic of trafficOf.values()) {
    if (traffic.calls > 0) messages += (traffic.messagesSent + traffic.messagesInProcess) / traffic.calls
  }
  return messages
}
