import { algorithms, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { parseAlgorithm, segmentsOf } from '../../../../src/collective/algorithm-text.js'
import { gridOfMachine } from '../../../../src/collective/ways/machine-grid.js'
import { chooseAlgorithm } from '../../../../src/cost/choose/choose-algorithm.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import { collectives, isNeighborCollective } from '../../../../src/schedule/specification.js'
import { refusal } from '../../../support/refusal.js'

const machine = parseMachine('cluster:nodes=2,cores=4,profile=simgrid-fast')
const ranks = 6
const chosen = (collective: (typeof collectives)[number], bytes: number) =>
  chooseAlgorithm(collective, machine, { bytes, ranks })

const grid = gridOfMachine(machine, null, ranks)!
const withAlgorithms = collectives.filter((collective) => !isNeighborCollective(collective))

describe('chooseAlgorithm', () => {
  it.each(withAlgorithms.map((collective, n) => [collective, n % 2 === 0 ? 65_536 : 8] as const))(
    'chooses for %s of %i bytes the fastest of all that serve, at their defaults or better',
    (collective, bytes) => {
      const { chosen: best, alternatives, notSimulated } = chosen(collective, bytes)
      const serving = algorithms.filter(
        (algorithm) =>
          algorithm.collective === collective && (algorithm.refuses?.({ ranks }) ?? null) === null,
      )
      expect(alternatives.map(({ algorithm }) => algorithm.split(':')[0]).sort()).toEqual(
        serving.map(({ id }) => id).sort(),
      )
      expect(notSimulated.every(({ because }) => because === 'refused')).toBe(true)
      for (const algorithm of serving) {
        const { timeUs } = simulate(scheduleOf(algorithm, { ranks, grid }), machine, { bytes })
        expect(best.timeUs).toBeLessThanOrEqual(timeUs)
      }
    },
  )

  it('says what it simulated: its texts give the schedules that take these times', () => {
    const { alternatives } = chosen('bcast', 100_000)
    expect(alternatives.some(({ algorithm }) => algorithm.includes('segments='))).toBe(true)
    for (const { algorithm: text, timeUs, messages } of alternatives) {
      const setting = parseAlgorithm(text)
      const segments = segmentsOf(setting, 100_000, ranks) ?? setting.algorithm.sections ?? 1
      const simulation = simulate(scheduleOf(setting.algorithm, { ranks, segments, grid }), machine, {
        bytes: 100_000,
      })
      expect([
        simulation.timeUs,
        simulation.traffic.node.messages + simulation.traffic.network.messages,
      ]).toEqual([timeUs, messages - simulation.traffic.package.messages])
    }
  })

  it('weighs every port of a torus, and names them so that the schedule is found again', () => {
    const torus = parseMachine('torus:dims=3x3,profile=bluegene-p')
    const { alternatives } = chooseAlgorithm('allgather', torus, { bytes: 100_000 })
    const texts = alternatives.map(({ algorithm }) => algorithm)
    expect(texts.some((text) => /^allgather-bucket:ports=[24]/.test(text))).toBe(true)
    for (const { algorithm: text, parameters } of alternatives) {
      const { algorithm, segments = algorithm.sections ?? 1 } = parseAlgorithm(text)
      const isOnGrid = algorithm.followsGrid === true
      expect(parameters).toMatchObject({ segments, ...(isOnGrid ? { dims: '3x3' } : {}) })
    }
  })

  it('refuses a shape whose smallest schedule is far beyond the budget, with the budget that it takes', () => {
    const large = parseMachine('cluster:nodes=4096,cores=1,profile=simgrid-fast')
    expect(() => chooseAlgorithm('alltoall', large, { bytes: 8, budget: 1 })).toThrow(
      refusal('ERR_SIMULATION', /expected a budget of at least 240, .* alltoall on 4096 ranks takes/),
    )
  })

  it('is the same in every run', () => {
    const now = () => 0
    const given = { bytes: 4096, now, ranks: 7, root: 3 }
    const choice = chooseAlgorithm('reduce', machine, given)
    expect(chooseAlgorithm('reduce', machine, given)).toEqual(choice)
    expect(choice).toMatchObject({ ranks: 7, root: 3, bytes: 4096, collective: 'reduce' })
  })

  it('admits no weaker order than asked for', () => {
    const idsOf = (order: 'tree' | 'ranks' | 'any') =>
      chooseAlgorithm('allreduce', machine, { bytes: 64, ranks: 5, order }).alternatives.map(
        ({ algorithm }) => algorithm,
      )
    expect(idsOf('any').some((id) => id.startsWith('allreduce-ring'))).toBe(true)
    expect(idsOf('ranks').some((id) => id.startsWith('allreduce-ring'))).toBe(false)
    expect(idsOf('ranks').some((id) => id.startsWith('allreduce-recursive-doubling'))).toBe(true)
    expect(idsOf('tree').some((id) => id.startsWith('allreduce-recursive-doubling'))).toBe(false)
  })

  it.each([
    ['ERR_ARGUMENT', 'bcast', { bytes: -1 }],
    ['ERR_ARGUMENT', 'bcast', {}],
    ['ERR_ARGUMENT', 'bcast', { bytes: 8, budget: 0 }],
    ['ERR_ARGUMENT', 'bcast', { bytes: 8, colour: 1 }],
    ['ERR_ARGUMENT', 'neighbor-allgather', { bytes: 8 }],
    ['ERR_RANK', 'bcast', { bytes: 8, root: 8 }],
    ['ERR_RANK', 'allgather', { bytes: 8, root: 1 }],
    ['ERR_MACHINE', 'bcast', { bytes: 8, ranks: 9 }],
    ['ERR_ABORTED', 'bcast', { bytes: 8, signal: AbortSignal.abort() }],
  ])('refuses with %s: %s, %o', (code, collective, given) => {
    const call = () => chooseAlgorithm(collective as 'bcast', machine, given as { bytes: number })
    expect(call).toThrow(expect.objectContaining({ code }))
  })
})
