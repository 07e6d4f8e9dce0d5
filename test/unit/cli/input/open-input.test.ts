import { expect, it } from 'vitest'
import { openInputOn } from '../../../../src/cli/input/open-input.js'
import { thrown } from '../../topology/thrown.js'

it('standard input is refused on mpi, where one process alone could read it', () => {
  expect(thrown(() => openInputOn('mpi')('-'))).toMatchObject({ code: 'ERR_USAGE' })
  expect(thrown(() => openInputOn('mpi')('missing.mtx'))).toMatchObject({ code: 'ERR_FILE' })
})
