import { expect, it } from 'vitest'
import { chosenAlltoall, isChosenByLength } from '../../../../src/topology-communicator/execute/chosen.js'
import type { Neighborhood } from '../../../../src/topology-communicator/execute/neighborhood.js'

it('an alltoall planned from neighbors does not build the topology of all ranks, with auto too', () => {
  const part = {
    isAuto: true,
    isLocated: true,
    fixedBytes: null,
    get topology(): never {
      throw new Error('built for all ranks')
    },
  } as unknown as Neighborhood
  expect(chosenAlltoall(part, 8)).toBe(part)
  expect(isChosenByLength(part)).toBe(false)
})
