import { expect, it } from 'vitest'
import { openInputOn } from '../../../../src/cli/input/open-input.js'
import { refusal } from '../../../support/refusal.js'

it('standard input is refused in a job, where one process alone could read it', () => {
  expect(() => openInputOn({ kind: 'mpi', isJob: true })('-')).toThrow(refusal('ERR_USAGE'))
  expect(() => openInputOn({ kind: 'mpi', isJob: true })('missing.mtx')).toThrow(refusal('ERR_FILE'))
})
