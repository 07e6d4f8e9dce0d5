import { algorithmOf, goalText, plan, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { cProgram, cProgramPieces } from '../../../src/export/c-program.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'

const edge = topologyFromEdges(3, { sources: [0], destinations: [2] })
const direct = plan(edge, { kind: 'direct' }).schedule

describe('goalText', () => {
  it('writes a rank per rank, also of those without messages', () => {
    expect(goalText(direct, { bytes: 8 })).toBe(
      `// neighbor-allgather by direct, 3 ranks, 8 bytes, exported by Rankweave
num_ranks 3

rank 0 {
s0: send 8b to 2 tag 0
}

rank 1 {
}

rank 2 {
r0: recv 8b from 0 tag 0
}
`,
    )
  })

  it('numbers the messages of a pair, and charges combinations', () => {
    const text = goalText(scheduleOf(algorithmOf('reduce-chain'), { ranks: 2, segments: 2 }), {
      bytes: 10,
      reduceNsPerByte: 2,
    })
    expect(text).toContain('r0: recv 5b from 1 tag 0\nr1: recv 5b from 1 tag 1\nc0: calc 10\nc1: calc 10\n')
    expect(text).toContain('c0 requires r0\nc1 requires r1\n')
  })

  it.each([-1, 0.5, Number.NaN, 2 ** 41, '4', undefined])('refuses %j bytes with ERR_EXPORT', (bytes) => {
    expect(() => goalText(direct, { bytes: bytes as number })).toThrow(
      expect.objectContaining({ code: 'ERR_EXPORT' }),
    )
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '1'])('refuses costs of %j', (reduceNsPerByte) => {
    expect(() => goalText(direct, { bytes: 1, reduceNsPerByte: reduceNsPerByte as number })).toThrow(
      expect.objectContaining({ code: 'ERR_EXPORT' }),
    )
  })
})

describe('cProgram', () => {
  it('is complete: the runtime once, the tables of every rank, no include of ours', () => {
    const text = cProgram(direct)
    expect(text.match(/^int rw_start\(.*\{$/gm)).toHaveLength(1)
    expect(text.match(/^static const int32_t rank_\d+\[\]/gm)).toHaveLength(3)
    expect(text.match(/^#include "/gm)).toBeNull()
    expect(text).toContain('mpirun -n 3 ./plan')
  })

  it('refuses a neighborhood collective without topology before the first piece', () => {
    const bare: Schedule = { ...direct, topology: null }
    expect(() => cProgramPieces(bare)).toThrow(expect.objectContaining({ code: 'ERR_EXPORT' }))
  })

  it('refuses tables of more than 2^24 numbers before the schedule is lowered', () => {
    const slotTerm = new Int32Array(2 ** 23)
    const large: Schedule = { ...direct, specification: { ...direct.specification, slotTerm } }
    expect(() => cProgramPieces(large)).toThrow(expect.objectContaining({ code: 'ERR_EXPORT' }))
  })

  it('leaves nothing in the text that a strategy of a file could break out with', () => {
    const hostile = { ...direct, strategy: 'x*/ "\n#error', parameters: { 'k*/': '"\\' } }
    const text = cProgram(hostile)
    expect(text.split('*/').length).toBe(cProgram(direct).split('*/').length)
    expect(text).not.toContain('#error')
    expect(goalText({ ...direct, strategy: 'x\nrank 0 {' }, { bytes: 1 }).split('\n')[1]).toBe('num_ranks 3')
  })
})
