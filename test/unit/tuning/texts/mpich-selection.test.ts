import { expect, it } from 'vitest'
import {
  type MpichSelection,
  mpichSelection,
  ownMpichSelection,
} from '../../../../src/tuning/texts/mpich-selection.js'
import { treeBySize, tuningFileOf } from '../../../support/mpi-tuning-file.js'
import { refusal } from '../../../support/refusal.js'

const name = 'MPICH 4.0.2'
const layout = { nodes: [2, 4], processesPerNode: 2 }
const intra = { 'algorithm=MPIR_own': {} }
const inter = { 'algorithm=MPIR_own_inter': {} }
const own: MpichSelection = {
  'collective=bcast': { 'comm_type=intra': intra, 'comm_type=inter': inter },
  'collective=allreduce': { 'comm_type=intra': intra, 'comm_type=inter': inter },
  'collective=gather': { 'comm_type=intra': intra },
  'collective=ibcast': intra,
}

it('mpichSelection tests ranks and bytes, and holds all that the file does not decide', () => {
  const file = tuningFileOf(name, {
    bcast: treeBySize('bcast', ['binomial', 'scatter_recursive_doubling_allgather', 'default'], [8, 100]),
  })
  const pow2 = {
    'comm_size=pow2': { 'algorithm=MPIR_Bcast_intra_scatter_recursive_doubling_allgather': {} },
    'comm_size=any': intra,
  }
  const bySize = {
    'avg_msg_size<=8': { 'algorithm=MPIR_Bcast_intra_binomial': {} },
    'avg_msg_size<=100': pow2,
    'avg_msg_size=any': intra,
  }
  expect(mpichSelection(file, own, layout)).toEqual({
    ...own,
    'collective=bcast': {
      'comm_type=intra': { 'comm_size<=4': bySize, 'comm_size=any': bySize },
      'comm_type=inter': inter,
    },
  })
})

it('mpichSelection leaves to MPICH what an algorithm cannot serve', () => {
  const file = tuningFileOf(name, { allreduce: treeBySize('allreduce', ['smp', 'nb'], [8]) })
  const selection = mpichSelection(file, own, { nodes: [2], processesPerNode: 2 })
  expect(selection['collective=allreduce']['comm_type=intra']).toEqual({
    'is_commutative=yes': {
      'comm_size=any': {
        'avg_msg_size<=8': {
          'comm_hierarchy=parent': { 'algorithm=MPIR_Allreduce_intra_smp': {} },
          'comm_hierarchy=any': intra,
        },
        'avg_msg_size=any': { 'algorithm=MPIR_Allreduce_allcomm_nb': {} },
      },
    },
    'is_commutative=no': intra,
  })
})

it.each([
  ['another library', tuningFileOf('Open MPI 4.1.4', {}), /source\.name: expected MPICH 4\.0/],
  [
    'an algorithm that is not there',
    tuningFileOf(name, { bcast: treeBySize('bcast', ['pipeline']) }),
    /decisions\.bcast: expected an algorithm of MPICH's Bcast among default, binomial.* got pipeline/,
  ],
  [
    'a parameter',
    tuningFileOf(name, { bcast: treeBySize('bcast', ['binomial:segment=8']) }),
    /cannot say segment=8 of binomial/,
  ],
  [
    'bytes of a gather',
    tuningFileOf(name, { gather: treeBySize('gather', ['binomial', 'nb'], [9]) }),
    /decisions\.gather: expected one setting for 4 ranks/,
  ],
  [
    'a collective that its own selection lacks',
    tuningFileOf(name, { barrier: treeBySize('barrier', ['dissemination']) }),
    /expected MPICH's own selection to have collective=barrier/,
  ],
])('mpichSelection refuses %s', (_, file, message) => {
  expect(() => mpichSelection(file, own, layout)).toThrow(refusal('ERR_TUNING', message))
})

it('ownMpichSelection finds the selection among those of the device', () => {
  const text = JSON.stringify(own)
  const device = JSON.stringify({ 'collective=bcast': { 'composition=x': {} } })
  const bytes = new TextEncoder().encode(`\u0001${device}\u0000\u0002${text}\u0000{"collective=bcast":`)
  expect(ownMpichSelection(bytes)).toEqual(own)
  expect(() => ownMpichSelection(new TextEncoder().encode(`${device}\u0000`))).toThrow(refusal('ERR_TUNING'))
})
