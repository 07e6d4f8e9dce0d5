import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../../src/cli/cli.js'
import { ownCommand, ownWords } from '../../../../src/cli/output/own-command.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

describe('the words that start the command', () => {
  const root = temporaryFolder('own-command')
  /** Makes an empty file, and returns its path. */
  const made = (...names: string[]) => {
    const file = join(root(), ...names)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '{}')
    return file
  }

  it('are rankweave where the PATH of the shell has it', () => {
    const main = made('global', 'main.js')
    const bin = dirname(made('bin', 'rankweave'))
    expect(ownCommand({ main, path: `/none:${bin}`, folder: root() })).toBe('rankweave')
  })

  it('are npx rankweave in a project that has it installed, although npx adds its folder to PATH', () => {
    const bin = dirname(made('project', 'node_modules', '.bin', 'rankweave'))
    const folder = dirname(made('project', 'data', 'input'))
    const main = join(bin, 'rankweave')
    expect(ownCommand({ main, path: bin, folder })).toBe('npx rankweave')
    expect(ownCommand({ main, path: bin, folder: dirname(root()) })).toBe(`node ${main}`)
  })

  it('are npx rankweave in a checkout, and of a copy that npx has loaded', () => {
    const main = made('checkout', 'dist', 'cli', 'main.js')
    const folder = dirname(made('checkout', 'package.json'))
    const link = join(root(), 'link.js')
    symlinkSync(main, link)
    expect(ownCommand({ main: link, path: '', folder })).toBe('npx rankweave')
    expect(ownCommand({ main: made('checkout', 'bin', 'rankweave.js'), path: '', folder })).toBe(
      'npx rankweave',
    )
    const elsewhere = dirname(made('other', 'package.json'))
    expect(ownCommand({ main, path: '', folder: elsewhere })).toBe(`node ${main}`)
    const loaded = join(root(), '_npx', '1', 'main.js')
    expect(ownCommand({ main: loaded, path: '', folder: elsewhere })).toBe('npx rankweave')
  })

  it('begin the lines that the command prints, also in JSON, and no other words', async () => {
    const own = () => `node '/a "b/main.js'`
    let help = ''
    const stdout = (text: string) => {
      help += text
    }
    await runCli(['map', '--help'], { stdout, stderr: () => {}, showsProgress: false, ownCommand: own })
    expect(help).toContain(`\n  ${own()} map moore:64x64:r=2`)
    expect(help).not.toContain('rankweave map')
    const words = ownWords(['map', 'mpi-info'], own)
    expect(JSON.parse(words('["rankweave map x"]', 'json'))).toEqual([`${own()} map x`])
    for (const other of [
      'npx rankweave map',
      '/bin/rankweave map',
      'rankweave maps',
      'rankweave mpi',
      'rankweave-map',
    ])
      expect(words(other)).toBe(other)
  })
})
