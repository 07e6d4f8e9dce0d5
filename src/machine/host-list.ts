import { requireKnownOptions, requireText } from '../base/known-options.js'
import { uncheckedOptions } from '../base/option.js'
import { rangeAt } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import { printable } from '../text/printable.js'
import type { ClusterMachine, Machine } from './machine.js'
import { nodesOf, requireCores } from './nodes.js'
import { failMachine, type Profile } from './profile.js'

/** A machine with the names of its nodes. */
export interface HostMachine {
  readonly machine: ClusterMachine
  /** The names of the nodes. Length: nodes. */
  readonly hosts: readonly string[]
}

const knownOptions = uncheckedOptions('profile')

/**
 * Returns the machine of a host list as Open MPI, MPICH, Grid Engine or Slurm write it: a line per host, or hosts that
 * commas separate. Slots follow a host as `host slots=16` (also `slot`, `cpu`, `cpus` and `count`), `host:16`, or `host
 * 16 QUEUE PROCESSORS` (the hosts file of a parallel environment of Grid Engine, also without PROCESSORS). A line of
 * pairs such as `n1 16 n2 8` is `LSB_MCPU_HOSTS` of LSF. A host without slots has one.
 * `node[01-03] slots=4` stands for three hosts of four slots. `#` and `//` begin a comment.
 *
 * Bounds on slots, ports, users and interfaces are ignored, and so is the user of `user@host`. A host that occurs again
 * is the same node, and its slots add up. Nodes are in the order of their first occurrence. There are at most 2^20 of
 * them, and brackets list at most as many, repetitions included.
 *
 * @throws ERR_MACHINE with line and character
 */
export function machineFromHostList(
  text: string,
  options: { readonly profile?: Profile | null } = {},
): HostMachine {
  requireText('machineFromHostList', text)
  requireKnownOptions('machineFromHostList', options, knownOptions)
  const { profile = null } = options
  const slots = slotsOfHosts(text)
  const runs = Array.from(slots.values(), (cores) => ({ nodes: 1, packages: [cores] }))
  return { machine: { kind: 'cluster', ...nodesOf(runs), profile }, hosts: [...slots.keys()] }
}

/** The forms in which a line lists hosts. */
export type HostForm = 'host' | 'host slots=N' | 'host:N' | 'host N host N' | 'host N QUEUE PROCESSORS'

/** A listener to a reader of a host list. */
export interface HostListener {
  /** A host was read; slots are null where the line has none. */
  host(name: string, slots: number | null, form: HostForm, line: number): void
  /** A part of a line was read that has no effect, such as `max_slots=8`. */
  ignored(text: string, line: number): void
}

/** Returns the slots of every host of a list. @throws ERR_MACHINE */
export function slotsOfHosts(text: string, listener: HostListener | null = null): Map<string, number> {
  const slots = new Map<string, number>()
  let listed = 0
  for (const [index, line] of text.split(/\r\n?|\n/).entries())
    listed = new HostLine(line.replace(/(#|\/\/).*/, ''), index + 1, listed, listener).read(slots)
  if (slots.size === 0) failMachine('host list: expected at least one host, got none')
  return slots
}

/** The words of Open MPI and MPICH for the slots of a host; below, words that do not concern slots. */
const slotsWords = ['slots', 'slot', 'cpus', 'cpu', 'count']
const ignoredWords = [
  ...['max_slots', 'slots_max', 'max_cpus', 'cpus_max', 'count_max', 'max_count'],
  ...['port', 'user', 'username', 'user_name', 'ifname', 'binding'],
]

/** A reader of one line of a host list, from left to right. */
class HostLine {
  readonly #line: string
  readonly #number: number
  readonly #listener: HostListener | null
  #at = 0
  #listed: number

  /** @param listed hosts that brackets of earlier lines have listed */
  constructor(line: string, number: number, listed: number, listener: HostListener | null) {
    this.#line = line
    this.#number = number
    this.#listed = listed
    this.#listener = listener
  }

  /** Adds the slots of the hosts of the line. @returns hosts that brackets have listed up to its end */
  read(slots: Map<string, number>): number {
    const first = /^\s*[\w.-]+(?=\s+\d+(\s|$))/.exec(this.#line)
    if (first !== null && !this.#isQueueAt(first[0].length)) return this.#readPairs(slots)
    for (this.#take(/[\s,]*/y); this.#at < this.#line.length; this.#take(/[\s,]*/y)) {
      const begin = this.#at
      const names = this.#names()
      const { count, form } = this.#count()
      for (const name of names) this.#add(slots, name, count, form, begin)
    }
    return this.#listed
  }

  /** Reads hosts with their slots as LSF writes them: `n1 16 n2 8`. */
  #readPairs(slots: Map<string, number>): number {
    for (this.#take(/\s*/y); this.#at < this.#line.length; this.#take(/\s*/y)) {
      const name = this.#take(/\w[\w.-]*(?=\s|$)/y)
      if (name === null || name.length > longestName) return this.#fail('the name of a host')
      this.#take(/\s+/y)
      this.#add(slots, name, this.#whole(), 'host N host N', this.#at)
    }
    return this.#listed
  }

  #add(slots: Map<string, number>, name: string, count: number | null, form: HostForm, at: number): void {
    slots.set(name, (slots.get(name) ?? 0) + (count ?? 1))
    if (slots.size > mostHosts) this.#fail(`at most ${mostHosts} hosts`, at)
    this.#listener?.host(name, count, form, this.#number)
  }

  /** Tells of the part of the line from a place up to this one. */
  #ignore(from: number): void {
    this.#listener?.ignored(this.#line.slice(from, this.#at), this.#number)
  }

  #names(): readonly string[] {
    const user = this.#at
    if (this.#take(/[\w.-]+@/y) !== null) this.#ignore(user)
    const begin = this.#at
    const address = this.#take(
      /\[[\da-f:.]*:[\da-f:.]*(%\w+)?\](?![^\s,:])|[\da-f]*:[\da-f]*:[\da-f:.]*(%\w+)?(?![^\s,])/iy,
    )
    if (address !== null) return [address.replaceAll(/[[\]]/g, '')]
    const name = this.#take(/(?:[\w.-]|\[[^\]\s]*\])+(?=[\s,:]|$)/y)
    if (name === null) return this.#fail('the name of a host')
    if (name.length <= longestName && /^\w[\w.-]*$/.test(name)) return [name]
    const fail = (at: number, expected: string) => this.#fail(expected, begin + at)
    const names = listHosts(name, mostHosts - this.#listed, fail)
    this.#listed += names.length
    return names
  }

  /** Reads the slots behind a host; null without them. */
  #count(): { readonly count: number | null; readonly form: HostForm } {
    let form: HostForm = this.#take(/:/y) === null ? 'host' : 'host:N'
    let count: number | null = form === 'host' ? null : this.#whole()
    const queue = count === null && this.#at < this.#line.length ? this.#takeQueue() : null
    if (queue !== null) return { count: queue, form: 'host N QUEUE PROCESSORS' }
    for (;;) {
      this.#take(/\s+/y)
      if (this.#at === this.#line.length || this.#line[this.#at] === ',') return { count, form }
      const begin = this.#at
      const word = this.#take(/[A-Za-z_-]+(?=\s*=)/y)
        ?.toLowerCase()
        .replaceAll('-', '_')
      const isSlots = word !== undefined && slotsWords.includes(word)
      if (isSlots && count !== null) this.#fail('the slots of a host once', begin)
      if (!isSlots && (word === undefined || !ignoredWords.includes(word)))
        this.#fail(
          count === null ? "'slots=N', ',' or the end of the line" : "',' or the end of the line",
          begin,
        )
      this.#take(/\s*=\s*/y)
      if (isSlots) {
        count = this.#whole()
        form = 'host slots=N'
        continue
      }
      // The processors of a binding are separated by commas, too: `binding=user:0,2`.
      this.#take(word === 'binding' ? /[^\s,]*(,[\d-]+(?=[\s,]|$))*/y : /[^\s,]*/y)
      this.#ignore(begin)
    }
  }

  /**
   * Whether the line goes on as Grid Engine writes it, up to its end. Names of queues have `@` or end with `.q` where no
   * PROCESSORS follow, and PROCESSORS that are a number are none: LSF writes `n1 16 n2 8`.
   */
  #isQueueAt(at: number): boolean {
    const queue = /\s+\d+\s+([^\s=,]+\s+(?!\d+\s*$)[^\s=]+|[^\s=,]+@[^\s=,]+|[^\s=,@]+\.q)\s*$/y
    queue.lastIndex = at
    return queue.test(this.#line)
  }

  /** Reads slots as Grid Engine writes them, `16 QUEUE PROCESSORS` up to the end of the line, or returns null. */
  #takeQueue(): number | null {
    if (!this.#isQueueAt(this.#at)) return null
    this.#take(/\s+/y)
    const count = this.#whole()
    this.#at = this.#line.length
    return count
  }

  #whole(): number {
    const begin = this.#at
    const text = this.#take(/[^\s,]*/y) ?? ''
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= 1 && value <= 2 ** 24 ? value : this.#fail('an integer of slots, at least 1', begin)
  }

  /** Moves behind the match of a sticky pattern at this place, or stays and returns null. */
  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#line)
    if (found === null) return null
    this.#at += found[0].length
    return found[0]
  }

  #fail(expected: string, at = this.#at): never {
    const line = this.#line
    const got = at < line.length ? `'${line.slice(at, at + 40)}'` : 'the end'
    return failMachine(
      `host list, line ${this.#number}, character ${at + 1}: expected ${expected}, got ${got}`,
      {
        line: this.#number,
        character: at + 1,
      },
    )
  }
}

export const mostHosts = 2 ** 20

/** The most characters of a name, as in the Domain Name System. */
const longestName = 255

/** A part of a name outside of brackets: letters, digits, `.`, `_` and `-`. */
const word = /[\w.-]+/y
const range = /(\d+)(?:-(\d+))?/y

/**
 * Returns the hosts of a list as Slurm abbreviates it: `n[001-003,7],gpu1` is n001, n002, n003, n7, gpu1. A name may
 * have several brackets, of which the last varies fastest: `r[1-2]n[0-1]`.
 *
 * @throws ERR_MACHINE with the character, also for names that begin with `-` or `.` or have more than 255 characters,
 *   and beyond 2^20 hosts, before they are listed
 */
export function expandHosts(text: string): string[] {
  requireText('expandHosts', text)
  return listHosts(text, mostHosts, (at, expected) => {
    const got = at < text.length ? `'${text.slice(at, at + 40)}'` : 'the end'
    return failMachine(
      printable(`hosts '${text.slice(0, 200)}', character ${at + 1}: expected ${expected}, got ${got}`),
      { at },
    )
  })
}

/** A function that refuses a list of hosts: an index into it, and what was expected there. */
type Fail = (at: number, expected: string) => never

/** Works as {@link expandHosts} does, with at most `most` hosts, for callers that report places in a longer text. */
function listHosts(text: string, most: number, fail: Fail): string[] {
  const hosts: string[] = []
  let at = 0
  while (true) {
    const start = at
    const parts: Alternatives[] = []
    let count = 1
    let length = 0
    for (;;) {
      const plain = matchAt(word, text, at)
      if (plain !== null) {
        parts.push({ count: 1, length: plain.length, all: () => [plain] })
        at += plain.length
      } else if (text[at] === '[') {
        const bracket = bracketAt(text, at, fail)
        parts.push(bracket)
        count *= bracket.count
        at = bracket.end
      } else break
      length += parts.at(-1)!.length
      if (length > longestName) fail(start, `names of at most ${longestName} characters`)
      if (hosts.length + count > most) fail(start, `at most ${mostHosts} hosts`)
    }
    if (parts.length === 0 || /[.-]/.test(text[start])) fail(start, 'the name of a host')
    for (const host of combined(parts)) hosts.push(host)
    if (at === text.length) return hosts
    if (text[at] !== ',') fail(at, "','")
    at++
  }
}

interface Alternatives {
  readonly count: number
  /** The length of the longest. */
  readonly length: number
  all(): string[]
}

/** The most digits of a number in a range, leading zeros included. */
const mostDigits = 16

/** Reads `[001-003,7]` from its opening bracket. */
function bracketAt(text: string, opening: number, fail: Fail): Alternatives & { readonly end: number } {
  const ranges: { first: number; last: number; width: number }[] = []
  let at = opening + 1
  let count = 0
  let length = 0
  for (;;) {
    range.lastIndex = at
    const match = range.exec(text)
    if (match === null) return fail(at, 'a number or a range such as 001-003')
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])]
    if (last < first || last > Number.MAX_SAFE_INTEGER) fail(at, 'an ascending range')
    if (match[1].length > mostDigits) fail(at, `numbers of at most ${mostDigits} digits`)
    ranges.push({ first, last, width: match[1].length })
    count += last - first + 1
    length = Math.max(length, match[1].length, String(last).length)
    at += match[0].length
    if (text[at] === ']') break
    if (text[at] !== ',') fail(at, "',' or ']'")
    at++
  }
  const all = () => {
    const numbers: string[] = []
    for (const { first, last, width } of ranges)
      for (let number = first; number <= last; number++) numbers.push(String(number).padStart(width, '0'))
    return numbers
  }
  return { count, length, all, end: at + 1 }
}

function combined(parts: readonly Alternatives[]): string[] {
  let names = ['']
  for (const part of parts) {
    const all = part.all()
    names = names.flatMap((name) => all.map((alternative) => name + alternative))
  }
  return names
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}

/** The launchers whose jobs read a file of places. */
export const placesFormats = ['openmpi', 'mpich', 'slurm'] as const
type PlacesFormat = (typeof placesFormats)[number]

interface RankPlaces {
  /** The core of every rank, counted over all nodes. */
  readonly coreOf: ArrayLike<number>
  readonly machine: Machine
  /** The names of nodes. */
  readonly hosts: readonly string[] | null
}

/**
 * Writes a file that places ranks on cores:
 * - `openmpi`: a rankfile, for `mpirun --rankfile FILE`; cores of a node by number
 * - `mpich`: a host file with a line for every rank, for `mpiexec -f FILE`
 * - `slurm`: a list of hosts with a line for every rank, for `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`
 *
 * With `mpich` and `slurm` the ranks of a node take its cores in their order.
 *
 * @throws ERR_MACHINE for ranks without a core, and without names of hosts
 */
export function* rankPlacesText(
  format: PlacesFormat,
  { coreOf, machine, hosts }: RankPlaces,
): Generator<string> {
  const { firstRank, cores } = machine
  requireCores(coreOf.length, firstRank[cores.length])
  if (hosts === null)
    throw new RankweaveError(
      'ERR_MACHINE',
      `${format}: expected a machine with names of hosts, such as hosts:FILE`,
    )
  for (let rank = 0; rank < coreOf.length; rank++) {
    const node = rangeAt(firstRank, coreOf[rank])
    if (format === 'openmpi') yield `rank ${rank}=${hosts[node]} slot=${coreOf[rank] - firstRank[node]}\n`
    else if (format === 'mpich') yield `${hosts[node]}:1\n`
    else yield `${hosts[node]}\n`
  }
}
