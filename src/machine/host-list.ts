import { requireKnownOptions, requireText } from '../base/known-options.js'
import { uncheckedOptions } from '../base/option.js'
import { mostHosts } from './host-names.js'
import type { ClusterMachine } from './machine.js'
import { nodesOf } from './nodes.js'
import type { Profile } from './profile.js'
import { failMachine } from './profile-figures.js'

/** A machine, and what its nodes are called. */
export interface HostMachine {
  readonly machine: ClusterMachine
  /** Length: nodes. */
  readonly hosts: readonly string[]
}

const entry = /([^\s,:=#]+)(?::([^\s,]*))?/y
const clause = /([A-Za-z_-]+)=([^\s,]*)/y

const knownOptions = uncheckedOptions('profile')

/**
 * The machine of a host list: a line or comma-separated word per host, with its slots as Open MPI
 * (`host slots=16`) or MPICH (`host:16`) writes them, one where not given. `max_slots=` is accepted and
 * ignored, `#` begins a comment. A host that occurs again is the same node, and its slots add up; nodes are
 * in the order of their first occurrence.
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
  for (const [index, line] of text.split(/\r?\n/).entries())
    readLine(line.replace(/#.*/, ''), index + 1, slots)
  if (slots.size === 0) failMachine('host list: expected at least one host, got none')
  const runs = Array.from(slots.values(), (cores) => ({ nodes: 1, packages: [cores] }))
  return { machine: { kind: 'cluster', ...nodesOf(runs), profile }, hosts: [...slots.keys()] }
}

function readLine(line: string, number: number, slots: Map<string, number>): void {
  const end = line.length
  for (let at = after(/[\s,]*/y, line, 0); at < end; at = after(/[\s,]*/y, line, at)) {
    entry.lastIndex = at
    const host = entry.exec(line) ?? fail(line, number, at, 'the name of a host')
    at += host[0].length
    let count = host[2] === undefined ? null : whole(line, number, at - host[2].length, host[2])
    for (let next = after(/\s+/y, line, at); next > at && next < end; next = after(/\s+/y, line, at)) {
      clause.lastIndex = next
      const found = clause.exec(line)
      if (found === null) break
      const valueAt = next + found[1].length + 1
      const key = found[1].toLowerCase().replaceAll('-', '_')
      const value = whole(line, number, valueAt, found[2])
      if (key === 'slots' && count === null) count = value
      else if (key !== 'max_slots')
        fail(line, number, next, count === null ? "'slots=N'" : 'the slots of a host once')
      at = next + found[0].length
    }
    slots.set(host[1], (slots.get(host[1]) ?? 0) + (count ?? 1))
    if (slots.size > mostHosts) fail(line, number, at, `at most ${mostHosts} hosts`)
  }
}

function after(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(line)?.[0].length ?? 0)
}

function whole(line: string, number: number, at: number, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= 1 && value <= 2 ** 24 ? value : fail(line, number, at, 'an integer of slots, at least 1')
}

function fail(line: string, number: number, at: number, expected: string): never {
  const got = at < line.length ? `'${line.slice(at, at + 40)}'` : 'the end'
  return failMachine(`host list, line ${number}, character ${at + 1}: expected ${expected}, got ${got}`, {
    line: number,
    character: at + 1,
  })
}
