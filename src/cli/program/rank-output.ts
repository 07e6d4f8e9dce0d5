import { AsyncLocalStorage } from 'node:async_hooks'
import { StringDecoder } from 'node:string_decoder'
import { describeComm } from '../../comm/describe.js'
import type { Communicator } from '../../handles/communicator.js'
import type { MatchingStatistics, QueueStatistics } from '../../messages/mailboxes/matching-meter.js'
import { communicatorText, madeBy } from '../../messages/process/comm-context.js'
import { defaultMailboxDesign } from '../../messages/process/matching-options.js'
import { percentText } from '../../text/printable.js'
import type { UserProgram } from '../../world/user-program.js'

/** The way of a program's writes to standard output and error to the terminal while its ranks run. */
export interface RankOutput {
  /** Runs a program; output of it and of everything it awaits is attributed to its ranks. */
  asRanks<T>(worlds: readonly Communicator[], main: () => T): T
  /** Writes unfinished lines and restores the streams. */
  restore(): void
}

type Write = typeof process.stdout.write

/**
 * Attributes output to ranks. They share one event loop and one standard output; the asynchronous context identifies
 * the writing rank. With `tag`, lines are held until complete and start with `[rank] `, those of a hosted program with
 * the first and the last of its ranks, `[0-31] `.
 */
export function captureRankOutput({ tag }: { readonly tag: boolean }): RankOutput {
  if (!tag) return { asRanks: (_, main) => main(), restore: () => {} }
  const current = new AsyncLocalStorage<string>()
  const restores = [process.stdout, process.stderr].map((stream) => {
    const own = Object.getOwnPropertyDescriptor(stream, 'write')
    const target = stream.write.bind(stream) as (...args: unknown[]) => boolean
    const tagger = new LineTagger(target)
    stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      const ranks = current.getStore()
      if (ranks === undefined) return target(chunk, ...rest)
      tagger.write(ranks, chunk)
      const done = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined
      if (done !== undefined) process.nextTick(done)
      return true
    }) as Write
    return () => {
      tagger.flush()
      if (own === undefined) Reflect.deleteProperty(stream, 'write')
      else Object.defineProperty(stream, 'write', own)
    }
  })
  return {
    asRanks: (worlds, main) => current.run(ranksText(worlds), main),
    restore: () => {
      for (const restore of restores) restore()
    },
  }
}

/** Returns the ranks of a process, which are consecutive, as text. */
function ranksText(worlds: readonly Communicator[]): string {
  const [first, last] = [worlds[0].rank, worlds[worlds.length - 1].rank]
  return first === last ? `${first}` : `${first}-${last}`
}

/** Collects each program's text into lines, so that lines of different ranks never mix. */
class LineTagger {
  readonly #write: (text: string) => unknown
  /** The unfinished output by ranks: bytes that may end within a character, and text that may end within a line. */
  readonly #unfinished = new Map<string, { readonly decoder: StringDecoder; text: string }>()

  constructor(write: (text: string) => unknown) {
    this.#write = write
  }

  write(ranks: string, chunk: string | Uint8Array): void {
    const rest = this.#unfinished.get(ranks) ?? { decoder: new StringDecoder('utf8'), text: '' }
    this.#unfinished.set(ranks, rest)
    const text = typeof chunk === 'string' ? chunk : rest.decoder.write(Buffer.from(chunk))
    const lines = (rest.text + text).split('\n')
    rest.text = lines.pop()!
    if (lines.length > 0) this.#write(lines.map((line) => `[${ranks}] ${line}\n`).join(''))
  }

  flush(): void {
    for (const [ranks, { decoder, text }] of this.#unfinished) {
      const last = text + decoder.end()
      if (last !== '') this.#write(`[${ranks}] ${last}\n`)
    }
    this.#unfinished.clear()
  }
}

/** The output and the reports of a user's program. */
interface ProgramReports {
  readonly output: RankOutput
  /** Whether the process of rank 0 writes at the end which algorithms its collectives used. */
  readonly reportAlgorithms: boolean
  /** Whether each process writes at the end how long its matching queues were. */
  readonly reportMatching: boolean
}

/** Returns a program whose output is attributed to its ranks. */
export function attributed<T, A>(
  { main, hosted }: UserProgram<T, A>,
  { output, reportAlgorithms, reportMatching }: ProgramReports,
): UserProgram<T, A> {
  // On `local`, one thread has several processes.
  const returned = new Map<number, number>()
  const reportsOf = (worlds: readonly Communicator[]) => {
    const [world] = worlds
    const { localRanks, runtime } = world.seat().state
    if (reportAlgorithms && world.rank === 0) process.stderr.write(`${algorithmReport(world)}\n`)
    const count = (returned.get(runtime.process) ?? 0) + worlds.length
    returned.set(runtime.process, count)
    if (reportMatching && count === localRanks.length) process.stderr.write(`${matchingReport(world)}\n`)
  }
  const inRanks = <R>(worlds: readonly Communicator[], call: () => R | PromiseLike<R>) =>
    output.asRanks(worlds, () =>
      reportAlgorithms || reportMatching ? thenReport(call, () => reportsOf(worlds)) : call(),
    )
  return {
    main: (world, args) => inRanks([world], () => main(world, args)),
    ...(hosted === undefined
      ? {}
      : { hosted: (worlds, args) => inRanks(worlds, () => hosted(worlds, args)) }),
  }
}

async function thenReport<R>(call: () => R | PromiseLike<R>, report: () => void): Promise<R> {
  const result = await call()
  report()
  return result
}

/** The most communicators that the report lists; further ones are counted. */
const mostCommunicators = 16

/**
 * Returns the algorithms that carried out the collectives of every communicator that the process of a rank still has:
 * the text of `run --report-algorithms`.
 */
function algorithmReport(world: Communicator): string {
  const lines = ['algorithms of collectives in the process of rank 0']
  let [shown, more] = [0, 0]
  for (const state of world.seat().state.runtime.contexts) {
    const uses = describeComm(state).collectives
    if (uses.length === 0) continue
    if (++shown > mostCommunicators) {
      more++
      continue
    }
    lines.push(`  ${madeBy(state) ?? communicatorText(state)}`)
    for (const { collective, algorithm, segments, participants, calls, why } of uses) {
      const how = algorithm ?? 'without a plan'
      const cut = segments > 1 ? `, ${segments} segments` : ''
      const among = participants > 0 ? `, ${participants} participants` : ''
      lines.push(
        `    ${collective}: ${how}${cut}${among}, ${calls} ${calls === 1 ? 'call' : 'calls'} (${why})`,
      )
    }
  }
  if (shown === 0) lines.push('  none: one process has all ranks, or no collective ran')
  if (more > 0) lines.push(`  and ${more} more communicators`)
  return lines.join('\n')
}

/** The most ranks that the report lists; further ones are counted. */
const mostRanks = 16

/**
 * Returns the lengths of the queues of the ranks of this process, on every communicator that it still has: the text of
 * `run --report-matching`. Ranks whose searches passed most entries come first.
 */
function matchingReport(world: Communicator): string {
  const { runtime } = world.seat().state
  const found = [...runtime.contexts]
    .flatMap((state) =>
      (describeComm(state).matching ?? []).map((matching) => ({
        state,
        matching,
        passed: passedBy(matching),
      })),
    )
    .filter(({ matching: { posted, unexpected } }) => posted.searches + unexpected.searches > 0)
  found.sort((a, b) => b.passed - a.passed)
  const lines = [`message matching of process ${runtime.process}`]
  for (const { state, matching } of found.slice(0, mostRanks)) {
    const { rank, design, receives, anySource, anyTag } = matching
    const by = design === defaultMailboxDesign ? '' : `, design ${design}`
    const shares =
      receives === 0
        ? ''
        : `, ${shareText(anySource, receives)} of any source, ${shareText(anyTag, receives)} of any tag`
    lines.push(
      `  rank ${rank} of ${madeBy(state) ?? communicatorText(state)}${by}: ${receives} receives${shares}`,
    )
    lines.push(`    posted receives:     ${queueText(matching.posted)}`)
    lines.push(`    unexpected messages: ${queueText(matching.unexpected)}`)
  }
  if (found.length === 0) lines.push('  none: no rank here took part in a message')
  if (found.length > mostRanks) lines.push(`  and ${found.length - mostRanks} more`)
  return lines.join('\n')
}

const passedBy = ({ posted, unexpected }: MatchingStatistics) => posted.passed + unexpected.passed

const shareText = (part: number, all: number) => percentText(part / all, 0)

function queueText({ searches, matches, passed, meanLength, longest, searchMs }: QueueStatistics): string {
  if (searches === 0) return `no search, at most ${longest}`
  const mean = (passed / searches).toFixed(1)
  const us = ((1000 * searchMs) / searches).toFixed(2)
  return `${searches} searches, ${matches} found; ${meanLength.toFixed(1)} long, at most ${longest}; ${mean} entries and ${us} us a search`
}
