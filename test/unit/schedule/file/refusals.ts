import { expect } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { parseSchedule } from '../../../../src/schedule/file/reader.js'

function refused(lines: readonly string[]): RankweaveError {
  try {
    parseSchedule(lines, 'plan.jsonl')
  } catch (error) {
    if (error instanceof RankweaveError) return error
    throw error
  }
  throw new Error('expected parseSchedule to refuse the lines')
}

/** That parseSchedule refuses the lines, at this line and with this beginning of the message. */
export function expectRefusal(lines: readonly string[], line: number, message: string): void {
  const error = refused(lines)
  expect(error.code).toBe('ERR_SCHEDULE_FORMAT')
  expect(error.message).toContain(`plan.jsonl:${line}: ${message}`)
  expect(error.details).toEqual({ source: 'plan.jsonl', line })
}

/** Changes one of the lines; the change must be one. */
export const changer =
  (lines: readonly string[]) =>
  (index: number, change: (line: string) => string): string[] => {
    const changed = change(lines[index])
    expect(changed).not.toBe(lines[index])
    return lines.with(index, changed)
  }
