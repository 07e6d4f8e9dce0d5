import { describe, expect, it } from 'vitest'
import { changesOf } from '../../../src/advise/changes.js'
import type { ProfileSummary } from '../../../src/profile/summary.js'

describe('the change to plans', () => {
  const plansOf = (neighborhood: number, sparseAlltoall: number) => {
    const levers = { neighborhood, sparseAlltoall, collectives: 0, placement: 0.75 }
    const { impossible, possible } = changesOf(
      { levers, nodes: 1 } as ProfileSummary,
      'all ranks are on one node',
    )
    return [...possible, ...impossible].find(({ name }) => name === 'neighborhood plans')
  }
  const combined = 'messages of neighborhood collectives are combined, or read in shared memory'
  const sparse = 'MPI_Alltoallv and MPI_Alltoallw send no empty blocks from call 33 on at the earliest'

  it('touches neighborhood collectives, mostly empty all-to-alls, or both, as far as they communicate', () => {
    expect(plansOf(0.5, 0)).toMatchObject({ share: 0.5, what: combined })
    expect(plansOf(0, 0.5)).toMatchObject({ share: 0.5, what: sparse })
    expect(plansOf(0.5, 0.5)).toMatchObject({ share: 0.75, what: `${combined}; ${sparse}` })
  })

  it('is not tried where MPI sends no empty blocks, and no neighborhood collective is called', () => {
    const reason = expect.stringMatching(
      /^the program calls no neighborhood collective, and no MPI_Alltoallv with mostly empty messages$/,
    )
    expect(plansOf(0, 0)).toMatchObject({ share: 0, reason })
  })
})

describe('the change to reordered ranks', () => {
  const reasonOf = (nodes: number, reorders: number) => {
    const levers = { neighborhood: 0, sparseAlltoall: 0, collectives: 0, placement: 0.75 }
    const { impossible } = changesOf({ levers, nodes, reorders } as ProfileSummary, 'a reason')
    expect(impossible[0]).toMatchObject({ name: 'placement', reason: 'a reason' })
    return impossible.find(({ name }) => name === 'reordered ranks')?.reason
  }

  it('needs several nodes, and a program that passes reorder = 1', () => {
    expect(reasonOf(1, 1)).toBe('all ranks are on one node')
    expect(reasonOf(2, 0)).toMatch(/^the program passes no reorder = 1 to MPI_Cart_create or /)
    expect(reasonOf(2, 1)).toBeUndefined()
  })
})
