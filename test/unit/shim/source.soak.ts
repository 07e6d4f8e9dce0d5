import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeShim, right } from '../../support/shim.js'
import { cli, onlyObject } from '../cli/run-cli.js'

describeShim('the sources of the preloaded library', (shim) => {
  it('are built and installed in an empty folder, without Node', async () => {
    const file = shim.path('rankweave-shim.tar.gz')
    expect(onlyObject(await cli('shim', '--json', '--source', file))).toEqual({ source: file })
    const empty = shim.path('empty')
    mkdirSync(empty)
    // The path of programs has all of /usr/bin but node.
    const bin = shim.path('bin')
    mkdirSync(bin)
    for (const name of readdirSync('/usr/bin'))
      if (!/^(node|nodejs|npm|npx)$/.test(name)) symlinkSync(join('/usr/bin', name), join(bin, name))
    const env = { ...process.env, PATH: bin, NODE: '' }
    const shell = (command: string, cwd: string) =>
      execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' })
    expect(shell('command -v node || echo none', empty)).toBe('none\n')
    shell(`tar xzf ${file}`, empty)
    expect(readdirSync(empty)).toEqual(['rankweave-shim'])
    const compiler = shim.mpicc.split('/').at(-1)!
    shell(
      `make -s -j2 MPICC=${compiler} CFLAGS='-O2 -Wall -Wextra -Werror' && make -s install PREFIX=${empty}/installed`,
      join(empty, 'rankweave-shim'),
    )
    expect(existsSync(`${empty}/installed/share/man/man7/rankweave_shim.7`)).toBe(true)
    const library = `${empty}/installed/lib/librankweave_shim.so`
    const command = shim.caseCommand('neighbors 3 3 4')
    const ended = await shim.start(4, command, { RANKWEAVE_SHIM: 'always,report' }, [library])
    expect(ended).toMatchObject(right('neighbors 3 3 4'))
    expect(ended.stderr).toContain('by the plan (shared)')
  })
})
