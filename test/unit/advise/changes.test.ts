import { describe, expect, it } from 'vitest'
import { changesOf } from '../../../src/advise/changes.js'
import type { ProfileSummary } from '../../../src/profile/summary.js'

describe('the change to plans', () => {
  const plansOf = (neighborhood: number, sparseAlltoall: number) => {
    const levers = { neighborhood, sparseAlltoall, collectives: 0, placement: 0.75 }
    const { impossible, possible } = changesOf({ levers, nodes: 1 } as ProfileSummary, null)
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

describe('the changes to where ranks are', () => {
  const reasonsOf = (nodes: number, reorders: number, programs?: number) => {
    const levers = { neighborhood: 0, sparseAlltoall: 0, collectives: 0, placement: 0.75 }
    const { impossible } = changesOf({ levers, nodes, reorders } as ProfileSummary, null, programs)
    return impossible.slice(0, -2).map(({ name, reason }) => `${name}: ${reason}`)
  }

  it('need several nodes, another order that sends less, and reorder = 1', () => {
    expect(reasonsOf(1, 1)).toEqual([
      'placement: all ranks are on one node (start it on the nodes of your job)',
      'reordered ranks: all ranks are on one node',
    ])
    expect(reasonsOf(2, 0)).toEqual([
      'placement: no other order of the ranks sends clearly less between nodes',
      'reordered ranks: the program passes no reorder = 1 to MPI_Cart_create or MPI_Dist_graph_create',
    ])
    expect(reasonsOf(2, 1, 2)).toEqual(['placement: the command starts several programs'])
  })
})
