import { paperSeconds, phases } from './paper-table.js'
import { million, type SplitTable } from './split-table.js'

/** Table 2.1 as Markdown, the paper's seconds in parentheses; then the baselines and the targets. */
export function splitText({ machine, peer, alpha, runs, rows, baselines, verdicts }: SplitTable): string {
  const sorters = [...new Set(rows.map((row) => row.sorters))].sort((a, b) => a - b)
  const lines = [
    `${machine}; medians of ${runs} runs (at most 3 above 32M); in parentheses the paper`,
    `alpha ${(alpha * 1e6).toPrecision(2)} us per message on the critical path, in no phase, in "with alpha"`,
    '',
    `| entries | seconds | ${sorters.map((p) => `p = ${p}`).join(' | ')} |`,
    `|---|---|${sorters.map(() => '---|').join('')}`,
  ]
  for (const { entries } of baselines) {
    const of = sorters.map((p) => rows.find((row) => row.entries === entries && row.sorters === p))
    const size = `${entries / million}M`
    for (const phase of [...phases, 'total'] as const) {
      const cells = of.map((row) => {
        if (row === undefined) return ''
        const theirs = paperSeconds(entries / million, row.sorters, phase)
        return theirs === null ? brief(row[phase]) : `${brief(row[phase])} (${theirs.toFixed(2)})`
      })
      lines.push(`| ${phase === 'collect' ? size : ''} | ${phase} | ${cells.join(' | ')} |`)
    }
    const charged = of.map((row) => (row === undefined ? '' : brief(row.total + alpha * row.messages)))
    lines.push(`| | with alpha | ${charged.join(' | ')} |`)
  }
  lines.push(
    '',
    '| entries | conventional | merging | C++ conventional | C++ merging |',
    '|---|---|---|---|---|',
  )
  for (const { entries, conventional, merging, cppConventional, cppMerging } of baselines) {
    const cells = [conventional, merging, cppConventional, cppMerging].map((each) =>
      each === null ? 'none' : brief(each),
    )
    lines.push(`| ${entries / million}M | ${cells.join(' | ')} |`)
  }
  lines.push('', `C++: ${peer}`, '')
  for (const { entries, sorters: p, faster, times, target, met } of verdicts) {
    const said = times === null ? 'no baseline' : `${times.toFixed(1)} times as fast`
    const goal = target === null ? '' : `, target ${target}: ${met ? 'met' : 'MISSED'}`
    lines.push(`${entries / million}M entries, p = ${p}, compared with ${faster}: ${said}${goal}`)
  }
  return lines.join('\n')
}

function brief(seconds: number): string {
  return seconds >= 0.1 ? seconds.toFixed(2) : seconds.toFixed(4)
}
