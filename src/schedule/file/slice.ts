import { requireText } from '../../base/known-options.js'
import { RankweaveError } from '../../errors.js'
import { failAtLine, parseLine, requireLines, shownJson } from './checked-values.js'
import type { ScheduleFileHeader } from './header.js'
import { readScheduleHeader } from './header.js'

/**
 * Selects some ranks of a schedule in its text form: the header, marked as that of a slice, and the unchanged
 * lines of these ranks. A slice can be sliced further. Only the selected lines are parsed.
 *
 * @param ranks in any order.
 * @throws ERR_RANK when the schedule does not have a rank
 * @throws ERR_SCHEDULE_FORMAT when a line is not one of a schedule
 */
export function* sliceSchedule(
  lines: Iterable<string>,
  ranks: Iterable<number>,
): Generator<string, void, undefined> {
  const slicer = new LineSlicer(ranks)
  requireLines('lines of a schedule', lines)
  for (const line of lines) yield* slicer.take(line)
  slicer.end()
}

class LineSlicer {
  readonly #wanted: Set<number>
  readonly #missing: Set<number>
  #header: ScheduleFileHeader | null = null
  #lineNumber = 0

  constructor(ranks: Iterable<number>) {
    requireLines('ranks of a slice', ranks)
    this.#wanted = new Set(ranks)
    this.#missing = new Set(this.#wanted)
  }

  /** Returns the line in the slice, or nothing. */
  take(text: string): readonly string[] {
    this.#lineNumber++
    requireText('line of a schedule', text)
    if (text.trim() === '') return []
    if (this.#header === null) return [this.#takeHeader(text)]
    const rank = this.#rankOf(text)
    if (!this.#wanted.has(rank)) return []
    this.#missing.delete(rank)
    return [text]
  }

  end(): void {
    if (this.#header === null) this.#fail('expected a header line, got nothing')
    for (const rank of this.#missing) this.#fail(`expected a line of rank ${rank}, got none`)
  }

  #takeHeader(text: string): string {
    const header = readScheduleHeader(parseLine(text, 'schedule', this.#lineNumber), (where, expected, got) =>
      this.#fail(`${where}: expected ${expected}, got ${shownJson(got)}`),
    )
    const available = header.slice === null ? null : new Set(header.slice)
    for (const rank of this.#wanted) {
      if (Number.isInteger(rank) && rank >= 0 && rank < header.ranks && available?.has(rank) !== false)
        continue
      const message = `expected ranks of the schedule (${available === null ? `0 to ${header.ranks - 1}` : `a slice of ${available.size}`}), got ${shownJson(rank)}`
      throw new RankweaveError('ERR_RANK', message, { details: typeof rank === 'number' ? { rank } : {} })
    }
    this.#header = header
    return JSON.stringify({ ...header, slice: [...this.#wanted].sort((a, b) => a - b) })
  }

  /** Returns the rank of a line, which is not parsed if it begins as `formatSchedule` writes it. */
  #rankOf(text: string): number {
    const quick = /^\{"rank":(\d+),/.exec(text)
    if (quick !== null) return Number(quick[1])
    const value = parseLine(text, 'schedule', this.#lineNumber) as { readonly rank?: unknown } | null
    const rank = value?.rank
    if (typeof rank !== 'number') this.#fail(`rank: expected a rank, got ${shownJson(rank)}`)
    return rank
  }

  #fail(message: string): never {
    return failAtLine('schedule', this.#lineNumber, message)
  }
}
