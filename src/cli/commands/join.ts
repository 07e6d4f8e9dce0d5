import * as z from 'zod'
import { type ErrorCode, isRankweaveError, RankweaveError } from '../../errors.js'
import { programDigest } from '../../launch/processes/load-program.js'
import { longestReportSeconds } from '../../launch/processes/report-triggers.js'
import { checkJoin, join, type NodeJoinOptions } from '../../launch/websocket/join.js'
import type { Joined } from '../../launch/websocket/joined.js'
import { addOptions, flag, json, negation, option, readOptions, seconds, whole } from '../input/options.js'
import { listenOf, listenOptions, readNamedFile } from '../input/server-options.js'
import { onlineTuningOption, reportOf, tuningOfRun } from '../input/world-options.js'
import { WorldFailure } from '../output/exit-codes.js'
import { plainValue, resultLines } from '../output/rank-results.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, secondsText } from '../output/result-rows.js'
import { checkProgramFile, loadProgram } from '../program/load-program.js'
import { refusePromisesAsNumbers } from '../program/promise-numbers.js'
import { attributed, captureRankOutput, type RankOutput } from '../program/rank-output.js'
import { asWorld } from '../program/run-program.js'

/**
 * Returns the token of a world. An option that was given takes precedence over the environment.
 *
 * @throws ERR_USAGE, ERR_FILE
 */
export function tokenOf(
  { token, tokenFile }: { readonly token?: string | undefined; readonly tokenFile?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (token !== undefined && tokenFile !== undefined)
    throw new RankweaveError('ERR_USAGE', '--token, --token-file: expected one of them')
  const given = tokenFile === undefined ? (token ?? environment['RANKWEAVE_TOKEN']) : readNamedFile(tokenFile)
  if (given !== undefined) return given.trim()
  throw new RankweaveError(
    'ERR_USAGE',
    'expected the token of the world: --token-file, --token, or the environment variable RANKWEAVE_TOKEN',
  )
}

const help = `
Joins the world that rankweave host has opened, waits until all its processes have joined, and runs this process's ranks.
Every process has to run the same file and the same version of Rankweave. What its ranks print and return is printed here.

The token is that of --token-file or of --token, which every user of this host can read in the list of processes, else of
the environment variable RANKWEAVE_TOKEN.

Other processes dial this one at the address from which it reaches the rendezvous, at a free port; --listen names another.
With --no-listen, and at an address that begins with wss: unless --listen has a certificate, the rendezvous relays.

Exit codes are those of rankweave run; 2 when the rendezvous refuses this process.

Examples:
  rankweave join ws://login:7000 --token-file token program.ts
  RANKWEAVE_TOKEN=$(cat token) rankweave join ws://login:7000 program.ts -- input.txt fast
  rankweave join wss://login:7000 --token-file token --ca ca.pem --listen 10.0.0.2:0 --tls-cert cert.pem --tls-key key.pem program.ts`

const listening = listenOptions('the address that reaches the rendezvous')

const optionTable = {
  tokenFile: option('--token-file <file>', 'file with the token'),
  token: option('--token <token>', 'the token itself'),
  ...listening,
  listen: { ...listening.listen, check: z.union([z.string(), z.literal(false)]).optional() },
  ...onlineTuningOption,
  noListen: option('--no-listen', 'accept no connections: the rendezvous relays', z.unknown()),
  ca: option('--ca <file>', 'certificates in PEM that sign those of other processes'),
  node: option('--node <label>', 'node of this process (default: the name of this host)'),
  process: option(
    '--process <number>',
    'number of this process (default: by order of joining)',
    whole(0, 2 ** 24),
  ),
  tagOutput: flag('--tag-output', 'begin every line with the rank that wrote it'),
  hosted: negation(
    '--no-hosted',
    'call the default export once per rank, also where the program exports hosted',
  ),
  diagnose: flag('--diagnose', 'name the line of the program in errors and reports of this process'),
  reportAfter: option(
    '--report-after <seconds>',
    'after this time, print which rank waits for what on standard error',
    seconds(longestReportSeconds),
  ),
  json,
}

export const joinCommand: AddCommand = (command, act) => {
  addOptions(
    command
      .argument('<url>', 'address of the rendezvous, as rankweave host prints it')
      .argument('<program>', 'file with the program')
      .argument('[args...]', 'arguments for the program, after --'),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, url: string, file: string, args: readonly string[], raw: unknown) => {
        const options = readOptions(optionTable, raw)
        const { listen, advertise, tlsCert, tlsKey, ca, node, process, tagOutput } = options
        if (listen === false && [advertise, tlsCert, tlsKey].some((given) => given !== undefined)) {
          const options = '--advertise, --tls-cert, --tls-key'
          const message = `${options}: expected a process that listens, got --no-listen`
          throw new RankweaveError('ERR_USAGE', message)
        }
        const chosen = listen === false ? null : listenOf({ ...options, listen })
        const started = performance.now()
        const tuning = await tuningOfRun(options, 'websocket', true)
        const joined = await joinProgram(file, {
          ...{
            url,
            tuning,
            token: tokenOf(options, globalThis.process.env),
            args,
            tagOutput,
            hosted: options.hosted,
            report: reportOf(options),
          },
          ...(options.diagnose ? { diagnose: true } : {}),
          ...(chosen === undefined ? {} : { listen: chosen }),
          ...(ca === undefined ? {} : { ca: readNamedFile(ca) }),
          ...(node === undefined ? {} : { node }),
          ...(process === undefined ? {} : { process }),
          onWaiting: (count, processes) => {
            if (count < processes)
              report.note(`joined; ${count} of ${counted(processes, 'process', 'processes')} are here`)
          },
        })
        const { firstRank, results, ranks, processes, process: own } = joined
        const took = (performance.now() - started) / 1000
        report.note(
          `${counted(results.length, 'rank', 'ranks')} of ${ranks}, process ${own} of ${processes}: ${secondsText(took)}`,
        )
        if (report.json) {
          const anyReturned = results.some((result) => result !== undefined)
          const extra = anyReturned ? { results: results.map((result) => plainValue(result)) } : {}
          const world = { ranks, processes, process: own, firstRank, fabric: 'websocket', seconds: took }
          report.result({ ...world, ...extra }, '')
        } else {
          const lines = resultLines(results, firstRank)
          if (lines.length > 0) report.result(null, lines.join('\n'))
        }
      }),
    )
}

/** The codes of errors in the options before the world has begun. */
const badInput = [
  'ERR_ARGUMENT',
  'ERR_WORLD',
  'ERR_PROTOCOL',
  'ERR_FABRIC',
] as const satisfies readonly ErrorCode[]

interface JoinProgramOptions
  extends Omit<NodeJoinOptions<readonly string[]>, 'program' | 'signal' | 'hosted'> {
  readonly tagOutput: boolean
  /** Whether the export `hosted` may run; if false, only the default export does. */
  readonly hosted: boolean
}

/**
 * Loads a program, joins a world and runs this process's ranks.
 *
 * @throws ERR_PROGRAM, and the codes with which a rendezvous refuses; WorldFailure whose cause is the world's first
 *   error
 */
async function joinProgram(
  file: string,
  { tagOutput, hosted, ...options }: JoinProgramOptions,
): Promise<Joined<unknown>> {
  checkJoin(options)
  const program = await programDigest(new URL(checkProgramFile(file)))
  const loaded = await loadProgram(file, hosted)
  const output = captureRankOutput({ tag: tagOutput })
  let hasBegun = false
  const begins: RankOutput = {
    ...output,
    asRanks(worlds, call) {
      hasBegun = true
      return output.asRanks(worlds, call)
    },
  }
  const { main, hosted: hostedMain = false } = attributed(loaded, {
    ...{ output: begins, reportAlgorithms: false, reportMatching: false },
  })
  const permitPromises = refusePromisesAsNumbers()
  try {
    // The world itself detects an empty event loop, and reports the ranks that wait.
    return await asWorld((signal) => join(main, { ...options, hosted: hostedMain, program, signal }), true)
  } catch (error) {
    const isInput = !hasBegun && error instanceof WorldFailure && isRankweaveError(error.cause, ...badInput)
    throw isInput ? error.cause : error
  } finally {
    permitPromises()
    output.restore()
  }
}
