import { describe, expect, it } from 'vitest'
import { expectedEnd, titleOf } from '../support/faults/fault-end.js'
import { rowsOf, thirdOf } from '../support/faults/fault-rows.js'
import { isSilent, runWebSocketFault } from '../support/faults/websocket-fault-case.js'
import { isSoak } from '../support/soak.js'

const everyDay = ['process killed during allreduce', 'repeated messages during persistent allreduce']

/** In `npm test`: a few faults, each during another operation; a third of all combinations in soak. */
const all = rowsOf('websocket')
const rows = isSoak ? thirdOf(all) : all.filter((row) => everyDay.includes(titleOf(row)))

/** These wait for silence most of the time, so some run at the same time. */
const silent = rows.filter((row) => isSilent(row))
const heard = rows.filter((row) => !isSilent(row))

describe('a fault on websocket', () => {
  it.each(heard.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
    expect(await runWebSocketFault(row)).toEqual(expectedEnd(row))
  })

  it.concurrent.each(silent.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
    expect(await runWebSocketFault(row)).toEqual(expectedEnd(row))
  })
})
