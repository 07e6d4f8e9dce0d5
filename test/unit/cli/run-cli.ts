import { expect } from 'vitest'
import { runCli } from '../../../src/cli/cli.js'

export interface Answer {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

type Values = readonly (string | number | readonly string[])[]

/** The words of a command line: a value is part of a word, a list that stands alone is several words. */
export function typed(texts: TemplateStringsArray, ...values: Values): string[] {
  const line = texts.reduce((before, text, i) => `${before}\0${i - 1}\0${text}`).trim()
  return line.split(/\s+/).flatMap((word) => {
    const alone = /^\0(\d+)\0$/.exec(word)
    const value = alone === null ? word : values[Number(alone[1])]
    if (typeof value === 'object') return value
    return String(value).replace(/\0(\d+)\0/g, (_, i) => String(values[Number(i)]))
  })
}

/** One command line, in this process: its words, or a template of them. */
export async function cli(...line: [TemplateStringsArray, ...Values] | string[]): Promise<Answer> {
  const argv = Array.isArray(line[0]) ? typed(...(line as Parameters<typeof typed>)) : (line as string[])
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

/** The one object that a command line prints with --json. */
export const json = async (...line: Parameters<typeof typed>): Promise<Record<string, unknown>> =>
  onlyObject(await cli(...typed(...line), '--json'))

/** The one object that --json prints; fails when there is anything else on standard output. */
export function onlyObject({ stdout }: Answer): Record<string, unknown> {
  if (!/^\{.*\}\n$/.test(stdout)) throw new Error(`expected one line with one object, got: ${stdout}`)
  return JSON.parse(stdout) as Record<string, unknown>
}

/** What a command line that is refused answers, and prints of it. */
export const refused = (message: string | RegExp) => ({
  exitCode: 2,
  stdout: '',
  stderr: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
})
