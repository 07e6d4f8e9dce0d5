import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { solverInThread } from '../../../../src/topology/grouping/exact-round.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('solver-thread')
const real = process.getBuiltinModule.bind(process)

afterEach(() => vi.restoreAllMocks())

/** A solver in a thread whose package is this text. */
function solverOf(text: string) {
  const path = join(folder(), 'solver.cjs')
  writeFileSync(path, text)
  const resolving = () => ({ ...createRequire(import.meta.url), resolve: () => path })
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
    name === 'node:module' ? { createRequire: resolving } : real(name as 'node:fs')) as never)
  return solverInThread()
}

test('a thread that dies while it solves ends the call with its reason, and the next call gets a new one', () => {
  const solver = solverOf(`module.exports = async () => ({
    solve(program) {
      if (program === 'exit') process.exit(7)
      return { Status: program, Columns: {} }
    },
  })`)
  expect(() => solver.solve('exit')).toThrow('HiGHS: its thread ended')
  expect(solver.solve('Optimal')).toEqual({ Status: 'Optimal', Columns: {} })
  expect(() => solver.solve('exit')).toThrow('HiGHS: its thread ended')
})

test('a package that cannot be loaded ends every call with its reason', () => {
  const solver = solverOf(`throw new Error('no package')`)
  for (let call = 0; call < 2; call++) expect(() => solver.solve('')).toThrow('no package')
})
