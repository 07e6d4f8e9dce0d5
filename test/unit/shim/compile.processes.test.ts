import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cli } from '../cli/run-cli.js'

it('rankweave shim names a compiler that does not start, and shows that one fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-shim-'))
  try {
    const missing = await cli('shim', '-o', folder, '--mpicc', join(folder, 'no-mpicc'))
    expect(missing.exitCode).toBe(2)
    expect(missing.stderr).toContain('ERR_SHIM: expected an MPI compiler')
    const failing = await cli('shim', '-o', folder, '--mpicc', 'false')
    expect(failing.exitCode).toBe(2)
    expect(failing.stderr).toContain('ERR_SHIM: false failed (exit code 1)')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
