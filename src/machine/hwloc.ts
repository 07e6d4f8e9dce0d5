import sax, { type Tag } from 'sax'
import { requireKnownOptions, requireText } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { isRankweaveError } from '../errors.js'
import type { ClusterMachine } from './machine.js'
import { nodesOf } from './nodes.js'
import { failMachine, type Profile } from './profile.js'

/** The most characters; `lstopo --of xml` of a node of 256 hardware threads takes 160,000. */
const longestHwlocText = 2 ** 26

export interface HwlocOptions {
  /** The number of nodes like this one. Default 1. */
  readonly nodes?: number
  readonly profile?: Profile | null
}

const knownOptions: OptionTable<HwlocOptions> = uncheckedOptions('nodes', 'profile')

/**
 * Returns a cluster of nodes like the one that `lstopo --of xml` describes (hwloc 2 and 3: `<topology version="2.0">`).
 * Its cores are those with a hardware thread that the process may use. Hardware threads count as cores only if hwloc
 * knows no cores. Cores outside of packages make one package.
 *
 * @throws ERR_MACHINE if the text is not such a topology, with line and character
 */
export function machineFromHwloc(text: string, options: HwlocOptions = {}): ClusterMachine {
  requireText('machineFromHwloc', text)
  requireKnownOptions('machineFromHwloc', options, knownOptions)
  const { nodes = 1, profile = null } = options
  const packages = packagesOf(text)
  return { kind: 'cluster', ...nodesOf([{ nodes, packages }]), profile }
}

/** Returns the number of cores of every package. */
function packagesOf(text: string): number[] {
  if (text.length > longestHwlocText) failAt(text, longestHwlocText, 'at most 64 MiB of XML')
  const packages: number[] = []
  /** The index in `packages` of the cores outside of all packages; -1 before the first. */
  let outside = -1
  /** The types of the enclosing objects, outermost first. */
  const around: string[] = []
  let allowed: CpuSet | null = null
  let isTopology = false
  /** Whether a hardware thread of the enclosing core may be used, and whether it is counted. */
  let core: { isCounted: boolean } | null = null
  let packagesAround = 0
  const parser = sax.parser(true)
  let hasEnded = false
  /** Fails at the beginning of the last tag, or of the text. */
  const failAtTag = (expected: string): never =>
    failAt(text, hasEnded ? text.length : (parser.startTagPosition || 1) - 1, expected)
  parser.onerror = ({ message }) =>
    failAtTag(isTopology ? `well-formed XML (${message.split('\n')[0]})` : "'<topology'")
  parser.onopentag = (tag) => {
    const { name, attributes } = tag as Tag
    if (!isTopology && name !== 'topology') failAtTag("'<topology'")
    if (!isTopology && !/^[23]\./.test(attributes['version'] ?? ''))
      failAtTag(`a topology of version 2 or 3 (hwloc 2 and later), not version ${attributes['version'] ?? 1}`)
    isTopology = true
    if (name !== 'object') return
    const type = attributes['type'] ?? failAtTag("an attribute 'type'")
    if (around.push(type) > deepest) failAtTag(`objects at most ${deepest} deep`)
    if (type === 'Machine') {
      const set = (attributes['allowed_cpuset'] ?? '').trim()
      if (!/^(0xf\.\.\.f)?[\da-fx,]*$/i.test(set)) failAtTag("a set such as '0x0000000f' in 'allowed_cpuset'")
      allowed = cpuSet(set)
    }
    if (type === 'Package') {
      packages.push(0)
      packagesAround++
    } else if (type === 'Core') core = { isCounted: false }
    else if (type === 'PU' && core?.isCounted !== true && mayUse(allowed, attributes['os_index'])) {
      if (core !== null) core.isCounted = true
      if (packagesAround > 0) packages[packages.length - 1]++
      else {
        if (outside < 0) outside = packages.push(0) - 1
        packages[outside]++
      }
    }
  }
  parser.onclosetag = (name) => {
    if (name !== 'object') return
    const type = around.pop()
    if (type === 'Core') core = null
    else if (type === 'Package') packagesAround--
  }
  try {
    parser.write(text)
    hasEnded = true
    parser.close()
  } catch (error) {
    // The parser throws on an attribute named like a method of objects.
    throw isRankweaveError(error) ? error : failAtTag('well-formed XML')
  }
  if (!isTopology) failAt(text, 0, "'<topology'")
  const used = packages.filter((cores) => cores > 0)
  return used.length > 0 ? used : failAt(text, text.length, "an object of type 'PU'")
}

/** The deepest nesting of objects; real machines have about 10. */
const deepest = 256

/** @throws ERR_MACHINE */
function failAt(text: string, at: number, expected: string): never {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const character = at - before.lastIndexOf('\n')
  const rest = text.slice(at, at + 40).split('\n')[0]
  const got = at < text.length ? `'${rest}'` : 'the end'
  return failMachine(`line ${line}, character ${character}: expected ${expected}, got ${got}`, {
    line,
    character,
  })
}

/** The hexadecimal digits of a set, the lowest four processors in the last. */
interface CpuSet {
  readonly digits: string
  /** Whether the set contains all processors above the digits. */
  readonly isInfinite: boolean
}

/**
 * Reads `0x00000001,,0xffffffff`: words of 32 bits, the lowest last, where hwloc leaves a word of zeros empty. A first
 * `0xf...f` stands for all bits above. Returns null for an empty text, which describes no set.
 */
function cpuSet(text: string): CpuSet | null {
  if (text === '') return null
  const isInfinite = text.startsWith('0xf...f')
  const rest = text.replace(/^0xf\.\.\.f,?/, '')
  const words = rest === '' ? [] : rest.split(',')
  return { digits: words.map((word) => word.replace(/^0x/, '').padStart(8, '0')).join(''), isInfinite }
}

function mayUse(allowed: CpuSet | null, osIndex: string | undefined): boolean {
  const index = Number(osIndex ?? Number.NaN)
  if (allowed === null || !Number.isInteger(index)) return true
  const digit = allowed.digits.at(-1 - Math.floor(index / 4))
  return digit === undefined ? allowed.isInfinite : (Number.parseInt(digit, 16) >> (index % 4)) % 2 === 1
}
