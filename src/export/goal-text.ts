import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { type BytesOf, lengthsOfUnits, longestBlockBytes } from '../cost/simulate/block-lengths.js'
import { wrongValue } from '../errors.js'
import type { Schedule } from '../schedule/ir.js'
import { taskNumbers } from '../schedule/lower/dependencies.js'
import { lower } from '../schedule/lower/lower.js'
import type { ProcessProgram } from '../schedule/lower/program.js'
import { requireSchedule } from '../schedule/require-schedule.js'
import { upTo } from '../schedule/specification.js'

export interface GoalOptions {
  /** The bytes of every unit of data, the unit that count describes in the MPI call. */
  readonly bytes: number
  /** The cost of combining, in nanoseconds per byte: the duration of `calc` operations. Default 0. */
  readonly reduceNsPerByte?: number
}

const knownOptions: OptionTable<GoalOptions> = uncheckedOptions('bytes', 'reduceNsPerByte')

/**
 * Returns a schedule in GOAL, the text that LogGOPSim's `txt2bin` reads (Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC
 * 2010), one rank per process. Every message is a `send` and a `recv`, every combination a `calc`; `requires` states
 * dependences. In a schedule with waits, a gate is a `calc` that takes no time, and messages without data are included.
 * Packing and copies inside a rank cost nothing. The k-th message of a pair has tag k. The schedule should have been
 * verified.
 *
 * @throws ERR_EXPORT unless `bytes` is an integer from 0 to 2^40 and `reduceNsPerByte` a number from 0 to 10^6
 * @throws ERR_SIMULATION beyond 2^53 bytes in all
 * @throws ERR_SCHEDULE as `lower`
 */
export function goalText(schedule: Schedule, options: GoalOptions): string {
  return [...goalPieces(schedule, options)].join('')
}

/** Returns {@link goalText} in pieces, one per rank. Throws before the first piece. */
export function goalPieces(schedule: Schedule, options: GoalOptions): Iterable<string> {
  requireSchedule(schedule)
  requireKnownOptions('goalText', options, knownOptions)
  const { bytes, reduceNsPerByte = 0 } = options
  requireNumber('bytes', bytes, Number.isInteger(bytes), longestBlockBytes)
  requireNumber('reduceNsPerByte', reduceNsPerByte, Number.isFinite(reduceNsPerByte), 1e6)
  const { specification } = schedule
  const bytesOf = lengthsOfUnits(specification, bytes)
  const { programs } = lower(schedule, upTo(specification.ranks), specification.ranks)
  return pieces(schedule, programs, bytes, bytesOf, reduceNsPerByte)
}

function requireNumber(name: string, value: unknown, isNumber: boolean, most: number): void {
  if (isNumber && (value as number) >= 0 && (value as number) <= most) return
  throw wrongValue('ERR_EXPORT', `${name}: expected a number from 0 to ${most}`, value)
}

function* pieces(
  { specification, strategy, opAfter }: Schedule,
  programs: readonly ProcessProgram[],
  bytes: number,
  bytesOf: BytesOf,
  reduceNsPerByte: number,
): Iterable<string> {
  const { collective, ranks } = specification
  const subject = `${collective} by ${strategy.replace(/[^\w .,:;=+()-]/g, '_')}, ${ranks} ranks, ${bytes} bytes`
  yield `// ${subject}, exported by Rankweave\nnum_ranks ${ranks}\n`
  const waits = opAfter.length > 0
  for (const program of programs) yield rankText(program, bytesOf, reduceNsPerByte, waits)
}

function rankText(
  program: ProcessProgram,
  bytesOf: BytesOf,
  reduceNsPerByte: number,
  waits: boolean,
): string {
  const { process, send, receive, combine, gates, valueTerm, dependencies } = program
  const [sends, receives] = [send.peer.length, receive.peer.length]
  const lengthOf = (value: number) => bytesOf(valueTerm[value])
  const lines = [`\nrank ${process} {`]
  const receiveTag = numbered()
  for (let frame = 0; frame < receives; frame++) {
    const [from, to] = [receive.valueStart[frame], receive.valueStart[frame + 1]]
    // Both ends know that a frame is empty, and without waits nothing depends on it.
    if (from === to && !waits) continue
    let length = 0
    for (let value = from; value < to; value++) length += lengthOf(value)
    const peer = receive.peer[frame]
    lines.push(`r${frame}: recv ${length}b from ${peer} tag ${receiveTag(peer)}`)
  }
  const sendTag = numbered()
  for (let frame = 0; frame < sends; frame++) {
    const values = send.value.subarray(send.valueStart[frame], send.valueStart[frame + 1])
    if (values.length === 0 && !waits) continue
    const length = values.reduce((sum, value) => sum + lengthOf(value), 0)
    const peer = send.peer[frame]
    lines.push(`s${frame}: send ${length}b to ${peer} tag ${sendTag(peer)}`)
  }
  for (let c = 0; c < combine.left.length; c++) {
    lines.push(`c${c}: calc ${Math.round(lengthOf(combine.firstValue + c) * reduceNsPerByte)}`)
  }
  for (let gate = 0; gate < gates.sends.length; gate++) lines.push(`g${gate}: calc 0`)
  const { firstGate, firstPost, combined, opened, sent } = taskNumbers(send, receive, combine, gates)
  const taskName = namesOf([
    ['s', 0],
    ['c', sends],
    ['g', firstGate],
    ['r', firstPost],
  ])
  const bringerName = namesOf([
    ['r', 0],
    ['c', combined],
    ['g', opened],
    ['s', sent],
  ])
  const { useStart, use } = dependencies
  for (let bringer = 0; bringer + 1 < useStart.length; bringer++) {
    for (let i = useStart[bringer]; i < useStart[bringer + 1]; i++)
      lines.push(`${taskName(use[i])} requires ${bringerName(bringer)}`)
  }
  return `${lines.join('\n')}\n}\n`
}

/** Numbers messages by their peer, from 0. */
function numbered(): (peer: number) => number {
  const counts = new Map<number, number>()
  return (peer) => {
    const number = counts.get(peer) ?? 0
    counts.set(peer, number + 1)
    return number
  }
}

/** Names a number by the letter of the last kind that begins at or before it, and its place in that kind. */
function namesOf(kinds: readonly (readonly [letter: string, first: number])[]): (of: number) => string {
  return (of) => {
    const [letter, first] = kinds.findLast(([, begin]) => begin <= of)!
    return `${letter}${of - first}`
  }
}
