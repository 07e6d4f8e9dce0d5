import { expect, it } from 'vitest'
import { openInputOn } from '../../../../src/cli/input/open-input.js'
import { refusal } from '../../../support/refusal.js'

it('standard input is refused on mpi, where one process alone could read it', () => {
  expect(() => openInputOn('mpi')('-')).toThrow(refusal('ERR_USAGE'))
  expect(() => openInputOn('mpi')('missing.mtx')).toThrow(refusal('ERR_FILE'))
})
