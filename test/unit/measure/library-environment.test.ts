import { describe, expect, it } from 'vitest'
import { requireOwnChoice } from '../../../src/measure/library-meter.js'
import { refusal } from '../../support/refusal.js'

/** What Open MPI 4.1.4 and MPICH 4.0.2 have where nothing is set. */
const unset = {
  'Open MPI': {
    coll_tuned_use_dynamic_rules: '1',
    coll_tuned_dynamic_rules_filename: '',
    coll_tuned_priority: '30',
    coll_tuned_bcast_algorithm: '0',
    coll_tuned_reduce_scatter_algorithm: '0',
    coll_han_priority: '0',
    coll_self_priority: '75',
  },
  MPICH: {
    MPIR_CVAR_DEVICE_COLLECTIVES: '2',
    MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: '',
    MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE: '',
    MPIR_CVAR_BCAST_INTRA_ALGORITHM: '0',
    MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM: '0',
  },
} as const

const checked = (kind: keyof typeof unset, set: Readonly<Record<string, string>> = {}) =>
  requireOwnChoice(kind, ['bcast', 'reduce-scatter'], async (name) => {
    const values: Readonly<Record<string, string>> = { ...unset[kind], ...set }
    return values[name] ?? null
  })

describe('control variables of a job', () => {
  it.each(['Open MPI', 'MPICH'] as const)('leave the choice to %s where nothing is set', async (kind) => {
    await expect(checked(kind)).resolves.toBeUndefined()
  })

  it.each([
    ['Open MPI', 'coll_tuned_use_dynamic_rules', '0', "'1'"],
    ['Open MPI', 'coll_tuned_dynamic_rules_filename', '/etc/rules', "''"],
    ['Open MPI', 'coll_tuned_reduce_scatter_algorithm', '2', "'0'"],
    ['Open MPI', 'coll_han_priority', '35', 'at most 30'],
    ['Open MPI', 'coll_hcoll_priority', '90', 'at most 30'],
    ['MPICH', 'MPIR_CVAR_DEVICE_COLLECTIVES', '0', "'2'"],
    ['MPICH', 'MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE', 'tuned.json', "''"],
    ['MPICH', 'MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE', 'tuned.json', "''"],
    ['MPICH', 'MPIR_CVAR_BCAST_INTRA_ALGORITHM', '1', "'0'"],
  ] as const)('are refused for %s where %s is %s', async (kind, name, value, expected) => {
    await expect(checked(kind, { [name]: value })).rejects.toMatchObject(
      refusal('ERR_MEASUREMENT', `expected control variable ${name} to be ${expected}`),
    )
  })

  it('of collectives that are not measured may have any value', async () => {
    await expect(checked('Open MPI', { coll_tuned_scan_algorithm: '2' })).resolves.toBeUndefined()
  })
})
