import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../baselines/split.cpp', import.meta.url))
const flags = ['-O3', '-march=native']

/** Splits and sorts written in C++, compiled on this machine. */
export interface SplitBaseline {
  /** Compiler, version and flags; or why there is none. Without a compiler the figures are null. */
  readonly how: string
  /** Seconds of every run; null without a compiler. */
  seconds(mode: 'conventional' | 'merging' | 'sort', entries: number, runs: number): number[] | null
  /**
   * Seconds of the split of programs/irregular.ts by `std::sort`, on one core, and the digest of its result.
   */
  irregular(ranks: number, colors: number, runs: number): { seconds: number[]; digest: number } | null
  close(): void
}

/** Compiles the baseline by `c++`, or what the environment variable CXX names. */
export function compileSplitBaseline(): SplitBaseline {
  const compiler = process.env['CXX'] ?? 'c++'
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-split-baseline-'))
  const close = () => rmSync(folder, { recursive: true, force: true })
  const program = join(folder, 'split-baseline')
  try {
    const [version] = said(compiler, ['--version']).split('\n')
    said(compiler, [...flags, '-o', program, source])
    const seconds: SplitBaseline['seconds'] = (mode, entries, runs) =>
      JSON.parse(said(program, [mode, entries, runs].map(String))) as number[]
    const irregular: SplitBaseline['irregular'] = (ranks, colors, runs) => {
      const words = ['irregular', ranks, runs, colors].map(String)
      const figures = JSON.parse(said(program, words)) as number[]
      return { seconds: figures.slice(0, -1), digest: figures.at(-1)! }
    }
    return { how: `${version}, ${flags.join(' ')}`, seconds, irregular, close }
  } catch (error) {
    close()
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? `no compiler ${compiler} here` : message.split('\n')[0]
    return { how: `none: ${why}`, seconds: () => null, irregular: () => null, close: () => {} }
  }
}

function said(file: string, args: readonly string[]): string {
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
