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
 * Draws mutants that do not overlap. Their lines are spread over the code lines of all sources evenly, so each room
 * has so many as it has lines in proportion.
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
  const sourceOfLine = sources.flatMap((source) => new Array<Source>(codeLines(source.text)).fill(source))
  const open = new Map<Source, SourceMutant[]>()
  const drawn: DrawnMutant[] = []

  /** Undefined where the mutant that is drawn cannot be one of them. */
  const drawFrom = (source: Source, id: number): DrawnMutant | undefined => {
    const { path, text } = source
    const own = open.get(source) ?? (isC(path) ? cMutants : sourceMutants)(text)
    open.set(source, own)
    if (own.length === 0) return undefined
    const [mutant] = own.splice(below(random, own.length), 1)
    const { start, end } = mutant!
    if (drawn.some((other) => other.path === path && other.start < end && start < other.end)) return undefined
    const candidate = { ...mutant!, path, id }
    return isC(path) && !isUsable(source, placed(source, [candidate])) ? undefined : candidate
  }

  for (let id = 1; id <= sample; id++) {
    const [from, to] = [id - 1, id].map((share) => Math.floor((share * sourceOfLine.length) / sample))
    let mutant: DrawnMutant | undefined
    for (let tries = 0; mutant === undefined && tries < 100; tries++) {
      // Some sources have few mutants, or none.
      const line = tries < 50 ? from! + below(random, to! - from!) : below(random, sourceOfLine.length)
      mutant = drawFrom(sourceOfLine[line]!, id)
    }
    if (mutant !== undefined) drawn.push(mutant)
  }
  return drawn
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
