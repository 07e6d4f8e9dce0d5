import { spawnSync } from 'node:child_process'

/** Debian's Python, which its package python3-websockets is for. */
export const python = '/usr/bin/python3'

/**
 * Why the client in Python cannot run; undefined where it can.
 * @throws where the environment requires that it can
 */
export function pythonMissing(): string | undefined {
  const { status } = spawnSync(python, ['-c', 'import websockets'])
  if (status === 0) return undefined
  const reason = `${python} has no package websockets (Debian: python3-websockets)`
  if (process.env['RANKWEAVE_REQUIRE_PYTHON'] === '1') throw new Error(reason)
  return reason
}
