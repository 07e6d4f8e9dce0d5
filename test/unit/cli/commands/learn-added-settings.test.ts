import { expect, test } from 'vitest'
import { withAdded } from '../../../../src/cli/commands/learn.js'
import { NumberedSettings, settingLine, type TuningSetting } from '../../../../src/tuning/settings/setting.js'
import { refusal } from '../../../support/refusal.js'

const bcast = (algorithm: string, parameters = {}): TuningSetting => ({
  ...{ collective: 'bcast', algorithm, parameters },
})
const allgather: TuningSetting = { collective: 'allgather', algorithm: 'allgather-ring', parameters: {} }
const table = new NumberedSettings([bcast('default'), bcast('bcast-knomial'), allgather])
const threads = { kind: 'rankweave', name: 'threads', machine: 'here' } as const

test('settings that are added come after those of runs, each once, and pass on with the next runs', () => {
  const texts = ['bcast-knomial:radix=3,segment=4096', 'allgather-ring', 'bcast-chain']
  const added = withAdded(table, texts, threads)
  expect(added.of('bcast').map(settingLine)).toEqual([
    ...['default', 'bcast-knomial', 'bcast-knomial:radix=3,segment=4096', 'bcast-chain'],
  ])
  expect(added.of('allgather').map(settingLine)).toEqual(['allgather-ring'])
  expect(withAdded(added, texts, threads).of('bcast')).toHaveLength(4)
})

test.each([
  ['bcast-of-mine', 'ERR_ARGUMENT'],
  ['bcast-knomial:radix=1', 'ERR_ARGUMENT'],
  ['reduce-tree', 'ERR_USAGE'],
  ['bcast-chain:segments=4', 'ERR_USAGE'],
  ['allgather-reordered:order=halving', 'ERR_USAGE'],
  ['bcast-chain:segment=4KiB', 'ERR_USAGE'],
])('%s is refused', (text, code) => {
  expect(() => withAdded(table, [text], threads)).toThrow(refusal(code as 'ERR_USAGE'))
})

test('runs of an MPI library and simulated ones take none', () => {
  for (const kind of ['mpi', 'simulator'] as const)
    expect(() => withAdded(table, ['bcast-chain'], { ...threads, kind })).toThrow(refusal('ERR_USAGE'))
})
