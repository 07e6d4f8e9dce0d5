import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { below, mulberry32 } from '../../src/base/random.js'
import { cMutants } from './c-mutants.js'
import { type SourceMutant, sourceMutants } from './source-mutants.js'

/** A source of the library, its path beginning with `src/`. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** A mutant that is drawn: its number, from 1, chooses it at run time. */
export interface DrawnMutant extends SourceMutant {
  readonly id: number
  readonly path: string
}

const cSwitch = readFileSync(new URL('in-copy/rw_mutant.h', import.meta.url), 'utf8')

export const isC = (path: string): boolean => /\.[ch]$/.test(path)

/** The room of a path of `src`; the C in a room is drawn by itself. */
export function roomOf(path: string): string {
  const room = path.split('/')[1]!
  return isC(path) ? `${room} (C)` : room
}

/**
 * Draws mutants that do not overlap: of each room so many as it has code lines in proportion, evenly among all
 * mutants of the room.
 *
 * @param isUsable of a C source with one mutant: whether it compiles
 */
export function drawMutants(
  sources: readonly Source[],
  sample: number,
  seed: number,
  isUsable: (source: Source, text: string) => boolean,
): DrawnMutant[] {
  const random = mulberry32(seed)
  const rooms = new Map<string, Source[]>()
  for (const source of sources) {
    const room = roomOf(source.path)
    rooms.set(room, [...(rooms.get(room) ?? []), source])
  }
  const lines = [...rooms.values()].map((own) => own.reduce((sum, { text }) => sum + codeLines(text), 0))
  const shares = inProportion(lines, sample)
  const drawn = [...rooms.values()].flatMap((own, i) => drawnOf(own, shares[i]!, random, isUsable))
  return drawn
    .sort((a, b) => (a.path === b.path ? a.start - b.start : a.path < b.path ? -1 : 1))
    .map((mutant, i) => ({ ...mutant, id: i + 1 }))
}

function drawnOf(
  sources: readonly Source[],
  count: number,
  random: () => number,
  isUsable: (source: Source, text: string) => boolean,
) {
  const open = sources.flatMap((source) =>
    (isC(source.path) ? cMutants : sourceMutants)(source.text).map((mutant) => ({ source, mutant })),
  )
  const drawn: (SourceMutant & { readonly path: string })[] = []
  while (drawn.length < count && open.length > 0) {
    const at = below(random, open.length)
    const { source, mutant } = open[at]!
    open[at] = open[open.length - 1]!
    open.pop()
    const { path } = source
    const overlaps = drawn.some(
      (other) => other.path === path && other.start < mutant.end && mutant.start < other.end,
    )
    if (overlaps || (isC(path) && !isUsable(source, placed(source, [{ ...mutant, path, id: 1 }])))) continue
    drawn.push({ ...mutant, path })
  }
  return drawn
}

/** Whole shares of a sum in proportion to weights: the largest remainders are rounded up. */
function inProportion(weights: readonly number[], sum: number): number[] {
  const all = weights.reduce((a, b) => a + b, 0)
  const exact = weights.map((weight) => (sum * weight) / all)
  const shares = exact.map(Math.floor)
  const byRemainder = exact.map((_, i) => i).sort((a, b) => exact[b]! - shares[b]! - (exact[a]! - shares[a]!))
  const missing = sum - shares.reduce((a, b) => a + b, 0)
  for (const i of byRemainder.slice(0, missing)) shares[i]!++
  return shares
}

const codeLines = (text: string): number =>
  text.split('\n').filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length

/** A source with all of its mutants, each of which runs where it is the chosen one. */
export function placed({ path, text }: Source, mutants: readonly DrawnMutant[]): string {
  const word = isC(path) ? 'rw_mutant' : 'isMutant'
  let changed = text
  for (const { start, end, id, chosen } of [...mutants].sort((a, b) => b.start - a.start))
    changed = changed.slice(0, start) + chosen(`${word}(${id})`) + changed.slice(end)
  if (isC(path)) return `${cSwitch}#line 1\n${changed}`
  const from = posix.relative(posix.dirname(path), 'src/mutant-switch.js')
  const module = from.startsWith('.') ? from : `./${from}`
  // Lines keep their numbers.
  return changed.replace(/^(#!.*\n)?/, `$&import { isMutant } from '${module}'; `)
}
