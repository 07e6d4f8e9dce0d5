import { requireKnownOptions, requireText } from '../base/known-options.js'
import { uncheckedOptions } from '../base/option.js'
import { listHosts, longestName, mostHosts } from './host-names.js'
import type { ClusterMachine } from './machine.js'
import { nodesOf } from './nodes.js'
import type { Profile } from './profile.js'
import { failMachine } from './profile-figures.js'

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
 * 16 QUEUE PROCESSORS` (the hosts file of a parallel environment of Grid Engine). A host without them has one.
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
  const slots = new Map<string, number>()
  let listed = 0
  for (const [index, line] of text.split(/\r\n?|\n/).entries())
    listed = new HostLine(line.replace(/(#|\/\/).*/, ''), index + 1, listed).read(slots)
  if (slots.size === 0) failMachine('host list: expected at least one host, got none')
  const runs = Array.from(slots.values(), (cores) => ({ nodes: 1, packages: [cores] }))
  return { machine: { kind: 'cluster', ...nodesOf(runs), profile }, hosts: [...slots.keys()] }
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
  #at = 0
  #listed: number

  /** @param listed hosts that brackets of earlier lines have listed */
  constructor(line: string, number: number, listed: number) {
    this.#line = line
    this.#number = number
    this.#listed = listed
  }

  /** Adds the slots of the hosts of the line. @returns hosts that brackets have listed up to its end */
  read(slots: Map<string, number>): number {
    for (this.#take(/[\s,]*/y); this.#at < this.#line.length; this.#take(/[\s,]*/y)) {
      const begin = this.#at
      const names = this.#names()
      const count = this.#count()
      for (const name of names) slots.set(name, (slots.get(name) ?? 0) + count)
      if (slots.size > mostHosts) this.#fail(`at most ${mostHosts} hosts`, begin)
    }
    return this.#listed
  }

  #names(): readonly string[] {
    this.#take(/[\w.-]+@/y)
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

  /** Reads the slots behind a host. */
  #count(): number {
    let count: number | null = this.#take(/:/y) === null ? null : this.#whole()
    const queue = count === null && this.#at < this.#line.length ? this.#takeQueue() : null
    if (queue !== null) return queue
    for (;;) {
      this.#take(/\s+/y)
      if (this.#at === this.#line.length || this.#line[this.#at] === ',') return count ?? 1
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
      if (isSlots) count = this.#whole()
      // The processors of a binding are separated by commas, too: `binding=user:0,2`.
      else this.#take(word === 'binding' ? /[^\s,]*(,[\d-]+(?=[\s,]|$))*/y : /[^\s,]*/y)
    }
  }

  /**
   * Reads slots as Grid Engine writes them, `16 QUEUE PROCESSORS` up to the end of the line, or returns null. PROCESSORS
   * that are a number are none: LSF writes `host 16 host 8`.
   */
  #takeQueue(): number | null {
    const found = /\s+(\d+)\s+[^\s=,]+\s+(?!\d+\s*$)[^\s=]+\s*$/y
    found.lastIndex = this.#at
    if (!found.test(this.#line)) return null
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
