import * as z from 'zod'
import { isRankweaveError, RankweaveError, shown, wrongValue } from '../../errors.js'
import { builtInProfiles } from '../../machine/built-in-profiles.js'
import { machineFromHostList } from '../../machine/host-list.js'
import { checkHostList, type HostListCheck } from '../../machine/host-list-check.js'
import { machineFromHwloc } from '../../machine/hwloc.js'
import type { Machine } from '../../machine/machine.js'
import { parseMachine } from '../../machine/machine-text.js'
import { portsField } from '../../machine/nodes.js'
import { failMachineAt, type Profile } from '../../machine/profile.js'
import { parseProfile } from '../../machine/profile-file.js'
import { machineFromSlurm } from '../../machine/slurm.js'
import { readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { openInput } from './open-input.js'

/** The check of an option that is the text of a machine. */
export const machineCheck = z.string().transform((text) => readMachine(text).machine)

/**
 * Returns the machine, or its text, of a command that predicts times.
 *
 * @throws ERR_USAGE without one, with an example and the names of profiles
 */
export function requireMachine<T extends Machine | string>(given: T | undefined): T {
  if (given !== undefined) return given
  const names = builtInProfiles.map(({ name }) => name).join(', ')
  throw new RankweaveError(
    'ERR_USAGE',
    'expected --machine with a profile, such as --machine cluster:nodes=4,cores=16,profile=simgrid-fast; ' +
      `profiles: ${names}, or FILE.json of rankweave calibrate`,
  )
}

/** A machine that the user described. */
export interface MachineInput {
  readonly machine: Machine
  /** The names of its nodes, if the description has them. */
  readonly hosts: readonly string[] | null
}

/**
 * Returns the machine of a command line:
 * - one line of text, as {@link parseMachine} reads it
 * - `FILE.xml` or `hwloc:FILE`: a node as `lstopo --of xml` describes it; `,nodes=16`: as many of them
 * - `slurm`: the job's nodes, from the environment; `,by=cpus` counts processors instead of tasks
 * - `hosts:FILE`: a host list
 *
 * Each may end with `,profile=NAME` or `,profile=FILE.json`, a file as `rankweave calibrate` writes it, and `,ports=6`.
 *
 * @throws ERR_MACHINE, ERR_FILE
 */
export function readMachine(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): MachineInput {
  const parts = /^(slurm|hosts:[^,]+|hwloc:[^,]+|[^:,]+\.xml(?:\.gz)?)(,.*)?$/s.exec(text)
  if (parts === null) return { machine: machineOfLine(text), hosts: null }
  const [, source, rest = ''] = parts
  const clauses = clausesOf(text, source.length, rest)
  const profile = profileNamed(clauses.get('profile'))
  const ports = portsField({ ports: clauses.has('ports') ? Number(clauses.get('ports')) : null })
  const described = (): MachineInput => {
    if (source === 'slurm') {
      const by = clauses.get('by') as 'tasks' | 'cpus' | undefined
      return machineFromSlurm(environment, by === undefined ? { profile } : { by, profile })
    }
    if (source.startsWith('hosts:'))
      return fromFile(source.slice('hosts:'.length), (list) => machineFromHostList(list, { profile }))
    const file = source.startsWith('hwloc:') ? source.slice('hwloc:'.length) : source
    const nodes = Number(clauses.get('nodes') ?? 1)
    return { machine: fromFile(file, (xml) => machineFromHwloc(xml, { nodes, profile })), hosts: null }
  }
  const { machine, hosts } = described()
  return { machine: { ...machine, ...ports }, hosts }
}

/**
 * Returns names for the nodes of a machine that has none: those of a host list, in its order.
 *
 * @throws ERR_MACHINE unless there are as many as nodes; ERR_FILE
 */
export function readHosts(file: string, { cores: { length: nodes } }: Machine): readonly string[] {
  return fromFile(file, (list) => {
    const { hosts } = machineFromHostList(list)
    if (hosts.length === nodes) return hosts
    throw wrongValue('ERR_MACHINE', `expected ${nodes} hosts, one for each node of the machine`, hosts.length)
  })
}

/** Returns how a host list was read, and what is odd in it. @throws ERR_MACHINE, ERR_FILE */
export function readHostList(file: string): HostListCheck {
  return fromFile(file, checkHostList)
}

function machineOfLine(text: string): Machine {
  const match = /(?<=[:,]profile=)[^,]*\.json(?=,|$)/.exec(text)
  if (match === null) return parseMachine(text)
  const profile = fromFile(match[0], parseProfile)
  const line = text.slice(0, match.index) + profile.name + text.slice(match.index + match[0].length)
  return parseMachine(line, { profiles: [profile] })
}

const allowed: Readonly<Record<string, RegExp>> = {
  profile: /^.+$/,
  nodes: /^\d{1,8}$/,
  by: /^(tasks|cpus)$/,
  ports: /^\d{1,8}$/,
}

/** Reads `,nodes=16,profile=simgrid-fast` after the source. */
function clausesOf(text: string, start: number, rest: string): Map<string, string> {
  const clauses = new Map<string, string>()
  const keys = text.startsWith('slurm')
    ? ['by', 'profile', 'ports']
    : text.startsWith('hosts:')
      ? ['profile', 'ports']
      : ['nodes', 'profile', 'ports']
  let at = start + 1
  for (const clause of rest.split(',').slice(1)) {
    const [key, value = ''] = clause.split(/=(.*)/s)
    if (!keys.includes(key) || clauses.has(key) || !allowed[key].test(value)) {
      const expected = `${keys.map((name) => `${name}=...`).join(' or ')} once`
      failMachineAt(text, at, `expected ${expected}, got ${shown(clause)}`)
    }
    clauses.set(key, value)
    at += clause.length + 1
  }
  return clauses
}

function profileNamed(name: string | undefined): Profile | null {
  if (name === undefined) return null
  if (name.endsWith('.json')) return fromFile(name, parseProfile)
  const names = builtInProfiles.map((profile) => profile.name).join(', ')
  const profile = builtInProfiles.find((candidate) => candidate.name === name)
  if (profile !== undefined) return profile
  throw wrongValue('ERR_MACHINE', `expected a profile, FILE.json or one of ${names}`, name)
}

/** Returns the result of `read` for a file's text, which may be compressed; its errors name the file. */
function fromFile<T>(file: string, read: (text: string) => T): T {
  const text = withSource(file, (source) => readText(source, file))
  try {
    return read(text)
  } catch (error) {
    if (!isRankweaveError(error, 'ERR_MACHINE')) throw error
    const message = `'${file}': ${error.message}`
    throw new RankweaveError('ERR_MACHINE', message, { details: { file }, cause: error })
  }
}

/** Returns a built-in profile by its name, or that of a file. @throws ERR_FILE, ERR_MACHINE for an invalid profile */
export function readProfile(name: string): Profile {
  const builtIn = builtInProfiles.find((profile) => profile.name === name)
  if (builtIn !== undefined) return builtIn
  const source = openInput(name)
  try {
    return parseProfile(readText(source, name))
  } finally {
    source.close()
  }
}
