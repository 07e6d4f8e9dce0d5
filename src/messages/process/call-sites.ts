import { nodeProcess } from '../../base/node-process.js'

/** The most open operations of a rank whose call sites are retained; those beyond have none. */
const mostPerRank = 64
/** The frames of a stack that are searched for the first one of the program. */
const searchedFrames = 48

/** The advice on how a program gets call sites, for messages of worlds that retain none. */
const hint = 'run with --diagnose, or diagnose: true, to see the line of the call'

/** The line of the program that called an operation. The text is made when it is read. */
export class CallSite {
  readonly #stack = new Error()
  #text: string | undefined

  /** The line, `program.ts:12:30`; empty if no frame of the stack belongs to the program. */
  get text(): string {
    this.#text ??= firstOfProgram(this.#stack.stack ?? '')
    return this.#text
  }
}

/**
 * The call sites of the open operations of one process, at most 64 per rank. A world has them only with `diagnose`:
 * each costs a stack trace of up to 48 frames.
 */
export class CallSites {
  readonly #firstRank: number
  readonly #open: Uint8Array

  constructor(firstRank: number, ranks: number) {
    this.#firstRank = firstRank
    this.#open = new Uint8Array(ranks)
  }

  /** Returns the place of the call in progress; undefined when the rank has too many open. */
  take(worldRank: number): CallSite | undefined {
    const index = worldRank - this.#firstRank
    if (this.#open[index] >= mostPerRank) return undefined
    this.#open[index]++
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = searchedFrames
    const site = new CallSite()
    Error.stackTraceLimit = stackTraceLimit
    return site
  }

  release(worldRank: number): void {
    this.#open[worldRank - this.#firstRank]--
  }
}

/**
 * Returns the end of a message about a call: its line, or how to see it.
 *
 * @param sites undefined: the world retains none
 */
export function calledAt(sites: CallSites | undefined, site: CallSite | undefined): string {
  if (sites === undefined) return `; ${hint}`
  return site === undefined || site.text === '' ? '' : `; called at ${site.text}`
}

/** Returns that advice as a line of a report; nothing if the world retains call sites. */
export function hintLine(sites: CallSites | undefined): string {
  return sites === undefined ? `\n  ${hint}` : ''
}

/** Returns a message without that advice, for callers that are no programs. */
export function withoutHint(message: string): string {
  return message.replaceAll(`; ${hint}`, '').replaceAll(`\n  ${hint}`, '')
}

const place = /[\s(]((?:file:\/\/|\/|[A-Za-z]:\\|https?:)[^()]*:\d+:\d+)\)?$/

function firstOfProgram(stack: string): string {
  const places = stack.split('\n').flatMap((line) => place.exec(line.trim())?.[1] ?? [])
  // The first frame is that of this module, or of the bundle that contains it. A program in the same bundle has no
  // separate frames.
  const own = /^.*?[\\/](?=messages[\\/]process[\\/]call-sites\.|[^\\/]*$)/.exec(
    plainPath(places[0] ?? ''),
  )?.[0]
  if (own === undefined) return ''
  for (const found of places) {
    const path = plainPath(found)
    if (!path.startsWith(own)) return withinFolder(path)
  }
  return ''
}

function plainPath(found: string): string {
  return found.startsWith('file://') ? decodeURI(found.slice('file://'.length)) : found
}

/** Returns a path relative to the current folder, if the file is in it. */
function withinFolder(path: string): string {
  const folder = nodeProcess?.cwd()
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
}
