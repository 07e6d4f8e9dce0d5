import { expect, it } from 'vitest'
import { progressLines } from '../../../src/measure/measure-calls.js'

it('calls that are measured are reported at most once a second', () => {
  const lines: string[] = []
  let now = 0
  const onCall = progressLines(
    (line) => void lines.push(line),
    () => now,
  )
  const call = { collective: 'bcast', nodes: 2, processesPerNode: 4, bytes: 8 } as const
  for (const [done, ms] of [0, 999, 1000, 1500, 2100].entries()) {
    now = ms
    onCall(call, done + 1, done, 9)
  }
  expect(lines).toEqual([
    'call 1 of 9: bcast of 8 B on 2 x 4 processes, 1 setting',
    'call 3 of 9: bcast of 8 B on 2 x 4 processes, 3 settings',
    'call 5 of 9: bcast of 8 B on 2 x 4 processes, 5 settings',
  ])
})
