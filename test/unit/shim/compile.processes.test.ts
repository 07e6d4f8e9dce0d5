import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepLibrary, takeLibrary } from '../../../src/shim/library-cache.js'
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
    const [asked, , compiled, , , profiler] = readFileSync(words, 'utf8').split('\n')
    for (const flag of ['-shared', '-fPIC', '-fvisibility=hidden', `-o ${library}`, '-ldl', '-lrt', '-lm'])
      expect(compiled).toContain(` ${flag}`)
    expect(compiled).toContain(' -DRW_MPI(name)=PMPI_##name ')
    const units = readdirSync(sources).filter((name) => name.endsWith('.c'))
    expect(units).toContain('rankweave_run.c')
    expect(compiled.match(/\S+\.c(?= )/g)!.sort()).toEqual(units.map((name) => join(sources, name)).sort())
    expect(asked).toBe(`-E -dM -DRW_MPI(name)=PMPI_##name ${join(sources, 'shim.h')}`)
    expect(profiler).toMatch(/ -DRW_TOOL="rankweave profile" -o \S+ \S+\/own-mpi\.c /)
  })

  describe('keeps what it has compiled', () => {
    let before: string | undefined
    beforeEach(() => {
      before = process.env['XDG_CACHE_HOME']
      process.env['XDG_CACHE_HOME'] = join(folder(), `cache-${crypto.randomUUID()}`)
    })
    afterEach(() => {
      if (before === undefined) delete process.env['XDG_CACHE_HOME']
      else process.env['XDG_CACHE_HOME'] = before
    })
    const kept = () => join(process.env['XDG_CACHE_HOME']!, 'rankweave', 'preload')

    /** A compiler that writes a library, and counts that; `shown` is its answer to -show. */
    const compilerThat = (shown: string) => {
      const mpicc = join(folder(), `mpicc-${crypto.randomUUID()}`)
      const writes = `*' -o '*) out=\${*##* -o }; echo library > "\${out%% *}"; echo x >> ${mpicc}.count ;;`
      writeFileSync(mpicc, `#!/bin/sh\ncase "$*" in -show) ${shown} ;; ${writes} esac\n`, { mode: 0o755 })
      return mpicc
    }
    /** Compiles both libraries, and returns how often the compiler ran for them in all. */
    const compile = async (mpicc: string) => {
      const output = join(folder(), `out-${crypto.randomUUID()}`)
      expect((await cli('shim', '-o', output, '--mpicc', mpicc)).exitCode).toBe(0)
      for (const name of ['shim', 'profile'])
        expect(readFileSync(join(output, `librankweave_${name}.so`), 'utf8')).toBe('library\n')
      return readFileSync(`${mpicc}.count`, 'utf8').split('\n').length - 1
    }

    it('for the same compiler, and not for one with other options or none that it shows', async () => {
      const [gcc, other, silent] = ['echo gcc', 'echo gcc -O3', 'exit 1'].map(compilerThat)
      expect(await compile(gcc)).toBe(2)
      expect(await compile(gcc)).toBe(2)
      expect(await compile(other)).toBe(2)
      expect(readdirSync(kept())).toHaveLength(4)
      expect([await compile(silent), await compile(silent)]).toEqual([2, 4])
      expect(statSync(kept()).mode & 0o777).toBe(0o700)
    })

    it('unless another could have written it, or it is broken', async () => {
      const mpicc = compilerThat('echo gcc')
      await compile(mpicc)
      const files = readdirSync(kept()).map((name) => join(kept(), name))
      for (const file of files) writeFileSync(file, 'broken')
      expect(await compile(mpicc)).toBe(4)
      for (const file of files) chmodSync(file, 0o622)
      expect(await compile(mpicc)).toBe(6)
      for (const file of files) {
        rmSync(file, { force: true })
        symlinkSync('/dev/zero', file)
      }
      expect(await compile(mpicc)).toBe(8)
      expect(await compile(mpicc)).toBe(8)
      chmodSync(kept(), 0o777)
      expect(await compile(mpicc)).toBe(10)
      process.env['XDG_CACHE_HOME'] = '/dev/null/none'
      expect(await compile(mpicc)).toBe(12)
    })

    it('beside what another command is writing', () => {
      const library = join(folder(), 'written')
      writeFileSync(library, 'library')
      keepLibrary('other', library)
      const draft = join(kept(), 'key-0.so.draft')
      writeFileSync(draft, 'lib', { mode: 0o600 })
      expect(takeLibrary('key', join(folder(), 'copy'))).toBe(false)
      expect(readFileSync(draft, 'utf8')).toBe('lib')
    })

    it('in at most 16 files, of which the least recently used go first', () => {
      const library = join(folder(), 'library')
      writeFileSync(library, 'library')
      for (let key = 0; key < 16; key++) {
        keepLibrary(`key${key}`, library)
        const [file] = readdirSync(kept()).filter((name) => name.startsWith(`key${key}-`))
        utimesSync(join(kept(), file), key + 1, key + 1)
      }
      expect(takeLibrary('key0', join(folder(), 'copy'))).toBe(true)
      keepLibrary('new', library)
      const keys = readdirSync(kept()).map((name) => name.split('-')[0])
      expect(keys).toHaveLength(16)
      expect(keys).toContain('key0')
      expect(keys).not.toContain('key1')
    })
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
