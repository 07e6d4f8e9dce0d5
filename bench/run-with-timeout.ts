import { spawn } from 'node:child_process'

/** Figures of one run by key. */
export type Figures = Readonly<Record<string, number>>

/** Process ids of running programs. No program outlives the benchmark, however it ends. */
const running = new Set<number>()

/** Ends the running programs and the benchmark. */
function endAll(): void {
  for (const pid of running) process.kill(-pid, 'SIGTERM')
  process.exit(130)
}
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, endAll)

/**
 * Runs a program that prints one JSON object as its last line; ends it and its children after the time limit.
 * `wallMs` among the figures is the program's whole run time.
 */
export function runWithTimeout(
  command: string,
  args: readonly string[],
  limitSeconds: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    if (child.pid !== undefined) running.add(child.pid)
    let out = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    const signal = (name: NodeJS.Signals) => {
      // The process group: mpirun forwards the signal to the ranks, which an alarm of their own ends in any
      // case.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name)
    }
    let late = false
    const politely = setTimeout(() => {
      late = true
      signal('SIGTERM')
    }, limitSeconds * 1000)
    const lastResort = setTimeout(() => signal('SIGKILL'), (limitSeconds + 5) * 1000)
    const stopClock = () => {
      clearTimeout(politely)
      clearTimeout(lastResort)
    }
    child.on('error', (error) => {
      stopClock()
      reject(error)
    })
    child.on('close', (code, by) => {
      stopClock()
      if (child.pid !== undefined) running.delete(child.pid)
      const wallMs = performance.now() - begin
      if (late) reject(new Error(`not done within ${limitSeconds} s`))
      else if (code !== 0) reject(new Error(`ended with ${by ?? code}: ${briefly(errors)}`))
      else {
        try {
          resolve({ ...(JSON.parse(out.trim().split('\n').at(-1) ?? '') as Figures), wallMs })
        } catch {
          reject(new Error(`expected figures as JSON, got: ${out.slice(-200)}`))
        }
      }
    })
  })
}

/** The line that names the error. */
function briefly(errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '')
  return (lines.find((line) => /error|wrong/i.test(line)) ?? lines.at(-1) ?? 'no message')
    .trim()
    .slice(0, 300)
}
