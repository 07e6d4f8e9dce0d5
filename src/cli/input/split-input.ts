import { seededRandom } from '../../base/random.js'
import { type RankweaveError, wrongValue } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { type ByteSource, readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { openInputOn } from './open-input.js'

/** The source of colors and keys: this many colors in turn with random keys, or lists by rank, color -1 for none. */
export type SplitInput =
  | { readonly kind: 'generated'; readonly colors: number }
  | { readonly kind: 'listed'; readonly color: Int32Array; readonly key: Int32Array }

export interface ColorsAndKeys {
  readonly color: Int32Array
  readonly key: Int32Array
}

export function colorsAndKeys(input: SplitInput, ranks: number): ColorsAndKeys {
  if (input.kind === 'listed') return input
  const draw = seededRandom(ranks)
  const color = new Int32Array(ranks)
  const key = new Int32Array(ranks)
  for (let rank = 0; rank < ranks; rank++) {
    color[rank] = rank % input.colors
    key[rank] = Math.floor((draw() - 0.5) * 2 ** 32)
  }
  return { color, key }
}

/** The average bytes of a line. */
const lineBytes = 64

/**
 * Reads one line per rank: color and key, or `-` for no color; without a key it is 0. The file may be a pipe or
 * compressed, and `-` is standard input.
 *
 * @param fabric of the world that splits
 * @throws ERR_FILE for a file that cannot be read, beyond 64 bytes per rank, for another number of lines, or for a line
 *   of another form; ERR_USAGE for `-` if every process reads
 */
export function readSplitFile(path: string, ranks: number, fabric: FabricFactory): SplitInput {
  const read = (source: ByteSource) => readText(source, path, lineBytes * ranks)
  const text = withSource(path, read, { open: openInputOn(fabric) })
  const lines = text.trimEnd().split('\n')
  if (lines.length !== ranks)
    throw wrongValue('ERR_FILE', `${path}: expected ${ranks} lines, one per rank`, lines.length)
  const color = new Int32Array(ranks)
  const key = new Int32Array(ranks)
  lines.forEach((line, rank) => {
    const words = line.trim().split(/\s+/)
    const [first, second = '0'] = words
    color[rank] = first === '-' ? -1 : number(path, rank, first, 0)
    key[rank] = number(path, rank, second, -(2 ** 31))
    if (words.length > 2) throw misread(path, rank, line)
  })
  return { kind: 'listed', color, key }
}

function number(path: string, rank: number, word: string, least: number): number {
  const value = /^[-+]?\d+$/.test(word) ? Number(word) : Number.NaN
  if (value >= least && value < 2 ** 31) return value
  throw misread(path, rank, word)
}

function misread(path: string, rank: number, got: string): RankweaveError {
  const expected = `${path}: line ${rank + 1}: expected a color from 0 to 2147483647 or -, then a signed 32-bit key`
  return wrongValue('ERR_FILE', expected, got, { line: rank + 1 })
}
