import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readResults } from '../bench/results-file.js'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const git = (...words: readonly string[]) =>
  spawnSync('git', words, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 }).stdout?.trim() ?? ''

const hasHistory = git('rev-parse', '--is-shallow-repository') === 'false'
if (!hasHistory) console.warn('commits of recorded results are not looked up: the clone has no whole history')

it.skipIf(!hasHistory)('every recorded result names a commit of this history', () => {
  const history = git('rev-list', 'HEAD').split('\n')
  const tables = readResults().flatMap(({ name, paperTable, tables }) =>
    [...tables, ...(paperTable === undefined ? [] : [{ ...paperTable, title: 'paper table' }])].map(
      ({ commit, title }) => ({ commit, table: `${name}: ${title}` }),
    ),
  )
  expect(tables.length).toBeGreaterThan(10)
  expect(tables.filter(({ commit }) => !history.some((each) => each.startsWith(commit)))).toEqual([])
})
