import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownFile } from '../../package-paths.js'

const flags = ['-O3', '-march=native']

/** Splits and sorts as one would write them in C++, compiled on this machine. */
export interface SplitPeer {
  /** Compiler, version and flags; or why there is no peer. Without one its figures are null, never made up. */
  readonly how: string
  /** Seconds of every run; null without a compiler. */
  seconds(mode: 'conventional' | 'merging' | 'sort', entries: number, runs: number): number[] | null
  close(): void
}

/** Compiles the peer by `c++`, or what the environment variable CXX names. */
export function compileSplitPeer(): SplitPeer {
  const compiler = process.env['CXX'] ?? 'c++'
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-split-peer-'))
  const close = () => rmSync(folder, { recursive: true, force: true })
  const program = join(folder, 'split-peer')
  try {
    const [version] = said(compiler, ['--version']).split('\n')
    said(compiler, [...flags, '-o', program, ownFile('cli/bench/split-peer.cpp')])
    const seconds: SplitPeer['seconds'] = (mode, entries, runs) =>
      JSON.parse(said(program, [mode, entries, runs].map(String))) as number[]
    return { how: `${version}, ${flags.join(' ')}`, seconds, close }
  } catch (error) {
    close()
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? `no compiler ${compiler} here` : message.split('\n')[0]
    return { how: `none: ${why}`, seconds: () => null, close: () => {} }
  }
}

function said(file: string, args: readonly string[]): string {
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
