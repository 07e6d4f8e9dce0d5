import { parseStrategy, type Strategy } from '../../src/neighborhood/strategies/strategies.js'

/** What candidates depend on. */
export interface Setting {
  readonly topology: string
  readonly nodes: number
  readonly cores: number
}

/**
 * Strategies worth trying: direct sends; digits of ranks, of nodes and of the ranks on them, in few steps and
 * in many; one message per pair of nodes; on grids the digits of offsets, and waves from node to node.
 *
 * @param isQuick those of which one has been the best of a cell
 */
export function candidatesOf({ topology, nodes, cores }: Setting, isQuick = false): readonly Strategy[] {
  const texts = new Set<string>(['direct'])
  for (const radices of notations(nodes * cores)) {
    if (!isQuick) texts.add(`routed:radices=${radices}`)
    if (!isQuick) texts.add(`allgather:radices=${radices}`)
  }
  const between = nodes > 1 ? notations(nodes) : []
  const inside = cores > 1 ? notations(cores) : []
  for (const radices of inside) {
    for (const count of ['', ',lanes=2', ',lanes=4']) texts.add(`lanes:radices=${radices}${count},own=spread`)
    if (!isQuick) texts.add(`lanes:radices=${radices}`)
  }
  if (cores === 16) {
    for (const widths of ['4.8.2', '8.4.2', '4.4.8'])
      texts.add(`lanes:radices=2.2.4,widths=${widths},own=spread`)
    texts.add(`lanes:radices=16,widths=${'1.'.repeat(12)}4`)
    texts.add('lanes:radices=2.2.4,own=spread')
  }
  for (const a of between) {
    for (const b of [...inside, ...(cores === 16 ? ['3.3.2', '3.2.3'] : [])])
      texts.add(`hierarchical:between=${a},inside=${b},digits=offset,order=highest`)
    for (const b of inside) {
      if (!isQuick || nodes <= 16) texts.add(`hierarchical:between=${a},inside=${b}`)
      if (!isQuick) texts.add(`pipelined:between=${a},inside=${b}`)
    }
  }
  const radius = /^moore:.*:r=(\d+)/.exec(topology)?.[1]
  if (radius !== undefined) addWindows(texts, topology, Number(radius), nodes, inside)
  return Array.from(texts, parseStrategy)
}

function addWindows(
  texts: Set<string>,
  topology: string,
  radius: number,
  nodes: number,
  inside: readonly string[],
): void {
  const dimensions = topology.split(':')[1].split('x').length
  const wide = 2 * radius + 1
  const windows = [String(wide), ...(windowsOf[radius] ?? [])]
  for (const first of windows) {
    for (const rest of windows) {
      const others = Array.from({ length: dimensions - 1 }, () => rest)
      texts.add(`cartesian:windows=${[first, ...others].join('/')}`)
    }
  }
  if (dimensions !== 2 || nodes < 4) return
  const ones = Array.from({ length: radius }, () => 1).join('.')
  const steps = [ones, ...(radius > 2 ? [`${Math.ceil(radius / 2)}.${Math.floor(radius / 2)}`] : [])]
  for (const each of steps) for (const b of inside) texts.add(`pipelined:steps=${each},inside=${b}`)
}

/** By radius, notations of its windows with few messages. */
const windowsOf: Readonly<Record<number, readonly string[]>> = { 2: ['2.3'], 3: ['2.2.2', '7'], 4: ['3.3'] }

/** Radices of numbers below a count: 2, 4, about the square root, and the count itself. */
function notations(count: number): string[] {
  const powers = (radix: number): number[] => {
    const radices: number[] = []
    for (let product = 1; product < count; product *= radix) radices.push(radix)
    return radices
  }
  const root = Math.ceil(Math.sqrt(count))
  const third = Math.ceil(Math.sqrt(count) * 1.5)
  const pairs = [
    [root, Math.ceil(count / root)],
    [third, Math.ceil(count / third)],
    [Math.ceil(count / third), third],
  ]
  const all = [powers(2), powers(4), ...pairs, ...(count <= 64 ? [[count]] : [])]
  const usable = all.filter((radices) => radices.every((radix) => radix >= 2))
  return [...new Set(usable.map((radices) => radices.join('.')))]
}
