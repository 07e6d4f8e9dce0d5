import { expect, it } from 'vitest'
import { chooseAlgorithm } from '../../src/cost/choose/choose-algorithm.js'
import { parseMachine } from '../../src/machine/machine-text.js'

it('a choice spends its budget on what can be fastest, not on what is small', () => {
  const large = parseMachine('cluster:nodes=25,cores=16,profile=simgrid-fast')
  const { chosen: fastest, notSimulated } = chooseAlgorithm('allgather', large, { bytes: 4096, budget: 2 })
  expect(fastest.algorithm).toBe('allgather-neighbor-exchange')
  const left = notSimulated.find(({ algorithm }) => algorithm === 'allgather-ring')!
  expect(left).toMatchObject({ because: 'slower' })
  expect(left.atLeastUs).toBeGreaterThan(fastest.timeUs)
  expect(left.reason).toContain(left.atLeastUs.toFixed(1))
})

it('a choice leaves what no schedule can hold', () => {
  const large = parseMachine('cluster:nodes=725,cores=64,profile=simgrid-fast')
  const given = { bytes: 8, ranks: 46_400, budget: 1 }
  const { notSimulated, alternatives } = chooseAlgorithm('allreduce', large, given)
  expect(alternatives.length).toBeGreaterThan(0)
  expect(notSimulated).toContainEqual(
    expect.objectContaining({ algorithm: 'allreduce-ring', because: 'budget', atLeastUs: 0 }),
  )
})
