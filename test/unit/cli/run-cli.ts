import { runCli } from '../../../src/cli/cli.js'

export interface Answer {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** One command line, in this process. */
export async function cli(...argv: string[]): Promise<Answer> {
  let stdout = ''
  let stderr = ''
  const exitCode = await runCli(argv, {
    stdout: (text) => {
      stdout += text
    },
    stderr: (text) => {
      stderr += text
    },
    showsProgress: false,
  })
  return { exitCode, stdout, stderr }
}

/** The one object that --json prints; fails when there is anything else on standard output. */
export function onlyObject({ stdout }: Answer): Record<string, unknown> {
  if (!/^\{.*\}\n$/.test(stdout)) throw new Error(`expected one line with one object, got: ${stdout}`)
  return JSON.parse(stdout) as Record<string, unknown>
}
