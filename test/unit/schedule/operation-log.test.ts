import { describe, expect, test } from 'vitest'
import { opKind } from '../../../src/schedule/ir.js'
import { OperationLog } from '../../../src/schedule/operation-log.js'

describe('OperationLog', () => {
  test('refuses more operations, and more entries, than a schedule has', () => {
    const log = new OperationLog(2, { operations: 2, entries: 3 })
    log.open(0, 0, opKind.copy, -1, 0)
    for (let i = 0; i < 3; i++) log.add(0, 0, i + 1)
    const error = (message: string) =>
      expect.objectContaining({ code: 'ERR_SCHEDULE', message: expect.stringContaining(message) })
    expect(() => log.add(0, 0, 4)).toThrow(error('at most 3 entries'))
    log.open(1, 0, opKind.copy, -1, 0)
    expect(() => log.open(1, 1, opKind.copy, -1, 0)).toThrow(error('at most 2 operations'))
    expect(log.operations().opKind.length).toBe(2)
  })
})
