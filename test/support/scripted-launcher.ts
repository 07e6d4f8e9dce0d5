import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes a script in place of Open MPI's `mpirun`; returns its path.
 *
 * @param recording what it does in place of the preloaded library: branches of `case`, for each of its words
 * @param rest commands that follow
 */
export function scriptedLauncher(folder: string, recording: string, rest: string): string {
  const path = join(folder, 'mpirun.script')
  const text = `#!/bin/sh
if [ "$1" = --version ]; then echo 'mpirun (Open MPI) 4'; exit; fi
for word; do
  case "$word" in
  ${recording}
  esac
done
${rest}
`
  writeFileSync(path, text, { mode: 0o755 })
  return path
}

/** Commands that interrupt the command, which started the script, and note the signal that it passes on. */
export const interruptedBy = (signal: string, exitCode: number): string => `
trap 'echo ${signal} >> "$0.signals"; exit ${exitCode}' ${signal}
kill -${signal} $PPID
while :; do sleep 0.05; done`
