import { erdosRenyiTopology } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { understand } from '../../../../src/client/protocol/plan-words.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import { reportedPlan } from '../../../../src/neighborhood/choose/plan-request.js'

const machine = parseMachine('cluster:nodes=4,cores=8,profile=simgrid-fast')
const graph = erdosRenyiTopology({ ranks: 32, density: 0.16, seed: 2 })

async function reported(words: { strategy: string; bytes?: number; compare?: boolean }) {
  const request = understand({ ...words, machine }, (name) => name)
  return (await reportedPlan(graph, request, machine)).report
}

it('more messages of a plan are remarked on with those between nodes if these are fewer', async () => {
  const { remark } = await reported({ strategy: 'hierarchical:between=4,inside=2.4,first=between' })
  expect(remark).toBe('the plan sends 190 messages instead of 182, but 79 instead of 136 between nodes')
})

it('more messages are no doubt where fewer go between nodes and the simulation says that the plan gains', async () => {
  const strategy = 'hierarchical:between=4,inside=2.4,first=between'
  const { messages, direct, simulated, remark } = await reported({ strategy, bytes: 64, compare: true })
  expect(messages.planned).toBeGreaterThan(messages.direct)
  expect(messages.interNode).toBeLessThan(direct.interNode!)
  expect(simulated).toMatchObject({ speedup: expect.closeTo(1.08, 2) })
  expect(remark).toBeNull()
})
