import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { cli, onlyObject } from '../cli/run-cli.js'

describe('rankweave shim', () => {
  const folder = temporaryFolder('shim-command')

  // A script stands for the compiler: it notes its words, and prints a macro when it is asked for them.
  it.each([
    ['OPEN_MPI 1', 'Open MPI', / -x LD_PRELOAD=/],
    ['MPICH_VERSION "4.0"', 'MPICH', / -genv LD_PRELOAD /],
    ['ANOTHER_MPI 1', null, undefined],
  ])('has all sources compiled into one library, for the MPI that defines %s', async (macro, mpi, launch) => {
    const [output, mpicc, words] = ['made', 'mpicc', 'words'].map((name) => join(folder(), name))
    const script = `#!/bin/sh\necho "$*" >> ${words}\ncase "$*" in *-dM*) echo '#define ${macro}' ;; esac\n`
    writeFileSync(words, '')
    writeFileSync(mpicc, script, { mode: 0o755 })
    const made = onlyObject(await cli('shim', '--json', '-o', output, '--mpicc', mpicc))
    const [library, sources] = [join(output, 'librankweave_shim.so'), join(output, 'sources')]
    expect(made).toMatchObject({ library, sources, mpi })
    if (launch !== undefined) expect(made['launch']).toMatch(launch)
    expect(made['profiler']).toBe(join(output, 'librankweave_profile.so'))
    const [compiled, asked, profiler] = readFileSync(words, 'utf8').split('\n')
    for (const flag of ['-shared', '-fPIC', '-fvisibility=hidden', `-o ${library}`, '-ldl', '-lrt', '-lm'])
      expect(compiled).toContain(` ${flag}`)
    expect(compiled).toContain(' -DRW_MPI(name)=PMPI_##name ')
    const units = readdirSync(sources).filter((name) => name.endsWith('.c'))
    expect(units).toContain('rankweave_run.c')
    expect(compiled.match(/\S+\.c(?= )/g)!.sort()).toEqual(units.map((name) => join(sources, name)).sort())
    expect(asked).toBe(`-E -dM ${join(sources, 'shim.h')}`)
    expect(profiler).toMatch(/ -DRW_TOOL="rankweave profile" -o \S+ \S+\/own-mpi\.c /)
  })

  it('names a compiler that does not start, and shows that one fails', async () => {
    const missing = await cli('shim', '-o', folder(), '--mpicc', join(folder(), 'no-mpicc'))
    expect(missing.exitCode).toBe(2)
    expect(missing.stderr).toContain('ERR_SHIM: expected an MPI compiler')
    const failing = await cli('shim', '-o', folder(), '--mpicc', 'false')
    expect(failing.exitCode).toBe(2)
    expect(failing.stderr).toContain('ERR_SHIM: false failed (exit code 1)')
  })

  it('writes an archive only to a name of an archive', async () => {
    const { exitCode, stderr } = await cli('shim', '--source', 'rankweave-shim.zip')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('expected a name that ends in .tar.gz or .tgz')
  })
})
