import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileProgram, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { cli, onlyObject } from '../cli/run-cli.js'

describeMpi('the sources of the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim-source')

  it.skipIf(mpicc === null)('are built and installed in an empty folder, without Node', async () => {
    const file = join(folder(), 'rankweave-shim.tar.gz')
    expect(onlyObject(await cli('shim', '--json', '--source', file))).toEqual({ source: file })
    const empty = join(folder(), 'empty')
    mkdirSync(empty)
    // The path of programs has all of /usr/bin but node.
    const bin = join(folder(), 'bin')
    mkdirSync(bin)
    for (const name of readdirSync('/usr/bin'))
      if (!/^(node|nodejs|npm|npx)$/.test(name)) symlinkSync(join('/usr/bin', name), join(bin, name))
    const env = { ...process.env, PATH: bin, NODE: '' }
    const shell = (command: string, cwd: string) =>
      execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' })
    expect(shell('command -v node || echo none', empty)).toBe('none\n')
    shell(`tar xzf ${file}`, empty)
    expect(readdirSync(empty)).toEqual(['rankweave-shim'])
    const compiler = mpicc!.split('/').at(-1)!
    shell(
      `make -s MPICC=${compiler} CFLAGS='-O2 -Wall -Wextra -Werror' && make -s install PREFIX=${empty}/installed`,
      join(empty, 'rankweave-shim'),
    )
    expect(existsSync(`${empty}/installed/share/man/man7/rankweave_shim.7`)).toBe(true)
    const neighbors = compileProgram(folder(), mpicc!, 'neighbors')
    const library = `${empty}/installed/lib/librankweave_shim.so`
    const ended = await runPreloaded(mpi, 4, library, [neighbors, '3', '3', '4'], {
      RANKWEAVE_SHIM: 'always,report',
    })
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
    expect(ended.stderr).toContain('by the plan (shared)')
  })
})

it('the archive of the sources has a name of an archive', async () => {
  const { exitCode, stderr } = await cli('shim', '--source', 'rankweave-shim.zip')
  expect(exitCode).toBe(2)
  expect(stderr).toContain('expected a name that ends in .tar.gz or .tgz')
})
