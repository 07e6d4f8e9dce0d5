import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeDirectory } from '../../../src/text/whole-file.js'
import { ownFolder } from '../../support/temporary-folder.js'

it('makeDirectory makes a directory and those above it, and leaves one that is there', () => {
  const folder = ownFolder('make')
  try {
    const path = join(folder, 'a', 'b', 'c')
    makeDirectory(path)
    makeDirectory(path)
    expect(statSync(path).isDirectory()).toBe(true)
    writeFileSync(join(folder, 'file'), '')
    expect(() => makeDirectory(join(folder, 'file', 'below'))).toThrow('ENOTDIR')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.runIf(process.platform === 'linux')('makeDirectory fails at once where nothing can be made', () => {
  expect(() => makeDirectory('/proc/rankweave/below')).toThrow('ENOENT')
  expect(() => makeDirectory('')).toThrow('ENOENT')
})
