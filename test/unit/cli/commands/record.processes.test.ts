import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli } from '../run-cli.js'

describe('rankweave record', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rankweave-record-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** A script in place of mpirun: it writes `graph` where the library would, then runs `rest`. */
  function launcherThat(rest: string, graph = 'ranks 2\n0 1\n'): string {
    const path = join(folder, 'mpirun.script')
    const text = `#!/bin/sh
if [ "$1" = --version ]; then echo 'mpirun (Open MPI) 4'; exit; fi
for word; do
  case "$word" in RANKWEAVE_SHIM=record:*) printf '%s' '${graph}' > "\${word#*:}" ;; esac
done
${rest}
`
    writeFileSync(path, text, { mode: 0o755 })
    return path
  }

  it('demands a file as output', async () => {
    const launcher = launcherThat('exit 0')
    const answer = await cli('record', '-o', '-', '--', launcher, './program')
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
    expect(answer.stderr).toContain('ERR_USAGE: --output: expected a file, got -')
  })
})
