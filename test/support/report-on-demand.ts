import type { ReportOptions } from '../../src/launch/processes/report-triggers.js'

/** Report options of a world, and `ask`, which has it report and resolves with the text. */
export function onDemand() {
  const waiting: ((text: string) => void)[] = []
  const report: ReportOptions = {
    onSignal: 'SIGUSR2',
    write: (text) => waiting.shift()?.(text),
  }
  const ask = () =>
    new Promise<string>((resolve) => {
      waiting.push(resolve)
      process.kill(process.pid, 'SIGUSR2')
    })
  return { report, ask }
}
