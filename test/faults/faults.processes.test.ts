import { expect, it } from 'vitest'
import { expectedEnd, titleOf } from '../support/faults/fault-end.js'
import { rowsOf } from '../support/faults/fault-rows.js'
import { runThreadsFault } from '../support/faults/threads-fault-case.js'
import { runWebSocketFault } from '../support/faults/websocket-fault-case.js'

// Each fault but a detached array, each time during another operation; more in faults.soak.ts.
const onThreads = rowsOf('threads').filter((_, n) => n % 7 === 0)
it.each(onThreads.map((row) => [titleOf(row), row] as const))('on threads, %s', async (_, row) => {
  expect(await runThreadsFault(row)).toEqual(expectedEnd(row))
})

const some = ['process killed during allreduce', 'repeated messages during persistent allreduce']
const onWebSocket = rowsOf('websocket').filter((row) => some.includes(titleOf(row)))
it.each(onWebSocket.map((row) => [titleOf(row), row] as const))('on websocket, %s', async (_, row) => {
  expect(await runWebSocketFault(row)).toEqual(expectedEnd(row))
})
