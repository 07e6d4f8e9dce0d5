import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '../../src/cli/cli.js'

/** What `rankweave simulate --json` prints, as far as figures need it. */
export interface Simulated {
  readonly timeUs: number
  readonly messages: Readonly<Record<string, number>>
  readonly links?: Readonly<Record<'nodes' | 'interior', LinkLoads>>
}

/** Of links of one kind: how many there are, how many carry something, and what. */
export interface LinkLoads {
  readonly links: number
  readonly used: number
  readonly mostBytes: number
  readonly meanBytes: number
}

const known = new Map<string, Promise<string>>()

/** What a command line of `rankweave` prints on standard output. Each runs once. @throws Error unless it succeeds */
export function printed(line: string): Promise<string> {
  let answer = known.get(line)
  if (answer === undefined) {
    answer = run(line)
    known.set(line, answer)
  }
  return answer
}

async function run(line: string): Promise<string> {
  const texts = { stdout: '', stderr: '' }
  const exitCode = await runCli(line.split(' '), {
    stdout: (text) => {
      texts.stdout += text
    },
    stderr: (text) => {
      texts.stderr += text
    },
    showsProgress: false,
  })
  if (exitCode !== 0) throw new Error(`rankweave ${line}: ${texts.stderr}`)
  return texts.stdout
}

export async function simulated(line: string): Promise<Simulated> {
  return JSON.parse(await printed(`simulate ${line} --json`)) as Simulated
}

/** The same with the load of links, which a picture has. */
export async function simulatedLinks(line: string): Promise<Required<Simulated>> {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-figures-'))
  try {
    return (await simulated(`${line} --links-svg ${join(folder, 'links.svg')}`)) as Required<Simulated>
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A picture that a command draws, as text. */
export async function drawn(line: string, option: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-figures-'))
  try {
    const file = join(folder, 'picture.svg')
    await printed(`${line} ${option} ${file}`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
