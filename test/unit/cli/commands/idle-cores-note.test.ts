import { expect, it } from 'vitest'
import { idleCoresNote } from '../../../../src/cli/commands/run.js'

it.each([
  ['local', 4, 8, 2, 'all ranks shared one core; --fabric threads --processes 2 runs them on 2 cores'],
  ['local', 1, 1, 8, undefined],
  ['local', 1, 8, 1, undefined],
  ['threads', 2, 8, 8, '8 ranks shared 2 threads; --processes 8 runs them on 8 cores'],
  ['threads', 1, 4, 2, '4 ranks shared 1 thread; --processes 2 runs them on 2 cores'],
  ['threads', 2, 8, 2, undefined],
  ['threads', 2, 2, 8, undefined],
  ['websocket', 2, 8, 8, undefined],
] as const)(
  'the note on idle cores: %s, %i processes, %i ranks, %i cores',
  (kind, processes, ranks, cores, note) => {
    expect(idleCoresNote({ kind, processes }, ranks, cores)).toBe(note)
  },
)
