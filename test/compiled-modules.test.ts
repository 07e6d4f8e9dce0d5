import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { compileModules, foldersOfC, shims } from './support/compile-sources.js'
import { temporaryFolder } from './support/temporary-folder.js'

const folder = temporaryFolder('compiled')
let checkout: string
const compiled = () => readdirSync(`${checkout}.compiled`).sort()
const compile = () => compileModules(checkout, ['src'])

/** A module that is newer than what was compiled before. */
function write(name: string, text: string): void {
  writeFileSync(`${checkout}src/${name}`, text)
  const later = new Date(Date.now() + 60_000)
  utimesSync(`${checkout}src/${name}`, later, later)
}

beforeEach(() => {
  checkout = `${folder()}/`
  for (const path of foldersOfC) mkdirSync(`${checkout}src/${path}`, { recursive: true })
  write('kept.ts', 'export const one: number = 1')
  write('gone.ts', 'export const two: number = 2')
  compile()
})

it('a run that compiles changed modules leaves programs that another run uses', () => {
  mkdirSync(`${checkout}${shims}/0123abcd`)
  rmSync(`${checkout}src/gone.ts`)
  write('kept.ts', 'export const one: number = 11')
  compile()
  expect(compiled()).toEqual(['done', 'kept.js', 'shims', 'web'])
  expect(readFileSync(`${checkout}.compiled/kept.js`, 'utf8')).toMatch(/^const one = 11;/)
  expect(existsSync(`${checkout}${shims}/0123abcd`)).toBe(true)
})

it('programs that no run has used for two days are removed', () => {
  const path = `${checkout}${shims}/4567cdef`
  mkdirSync(path)
  const before = new Date(Date.now() - 2 * 24 * 3_600_000)
  utimesSync(path, before, before)
  write('kept.ts', '')
  compile()
  expect(existsSync(path)).toBe(false)
})

it('the lock of a run that was killed does not stop another one', () => {
  // Linux has no process of such a number.
  writeFileSync(`${checkout}.compiled/lock`, String(2 ** 22 + 1))
  write('kept.ts', '')
  compile()
  expect(compiled()).not.toContain('lock')
})
