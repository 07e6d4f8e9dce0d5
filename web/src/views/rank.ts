import { operationNames, type RankView } from '../../../src/report/rank-view.js'
import { announce, h, panel, table } from '../dom.js'
import { figure } from '../format.js'
import type { RankSource } from '../source.js'

export interface RankPanel {
  readonly element: HTMLElement
  show(rank: number): Promise<void>
}

/** The neighbors of a rank and its program. */
export function rankPanel(ranks: number, source: RankSource, onPick: (rank: number) => void): RankPanel {
  const input = h('input', { type: 'number', min: 0, max: ranks - 1, value: 0, name: 'rank', required: true })
  const result = h(
    'div',
    { class: 'rank-result' },
    h('p', { class: 'note' }, 'Pick a vertex of the graph, or enter a rank.'),
  )
  const show = async (rank: number) => {
    input.value = String(rank)
    const [program, neighborhood] = await Promise.all([source.program(rank), source.neighborhood(rank)])
    const parts: HTMLElement[] = []
    if (neighborhood !== null)
      parts.push(
        h(
          'p',
          {},
          h('strong', {}, `Sends to ${figure(neighborhood.out.length)}: `),
          listed(neighborhood.out),
        ),
        h(
          'p',
          {},
          h('strong', {}, `Receives from ${figure(neighborhood.in.length)}: `),
          listed(neighborhood.in),
        ),
      )
    if (program !== null) parts.push(programTable(program))
    if (program === null)
      parts.push(
        h(
          'p',
          { class: 'note' },
          'The program of this rank is not in this file: it has those of the ranks in the timeline.',
        ),
      )
    result.replaceChildren(h('h3', {}, `Rank ${figure(rank)}`), ...parts)
    announce(`Rank ${rank}: ${program === null ? 'no program here' : `${program.kind.length} operations`}`)
  }
  const form = h(
    'form',
    {
      class: 'inline',
      onsubmit: (event) => {
        event.preventDefault()
        onPick(input.valueAsNumber)
      },
    },
    h('label', {}, 'Rank ', input),
    h('button', { type: 'submit' }, 'Show'),
  )
  return { element: panel('Rank', { class: 'panel rank' }, form, result), show }
}

function listed(ranks: readonly number[]): string {
  if (ranks.length === 0) return 'no rank'
  const shown = ranks.slice(0, 100).join(', ')
  return ranks.length > 100 ? `${shown}, and ${ranks.length - 100} more` : shown
}

function programTable({ rank, phase, kind, peer, blocks, block, leftOut }: RankView): HTMLElement {
  const rows = kind.map((k, i) => {
    const names = block[i].map((b) => (b < 0 ? `~${~b}` : String(b)))
    if (blocks[i] > names.length) names.push('…')
    return [
      figure(phase[i]),
      operationNames[k],
      peer[i] === -1 ? '' : String(peer[i]),
      figure(blocks[i]),
      names.join(' '),
    ]
  })
  const caption = `Program of rank ${rank}: ${kind.length + leftOut} operations${leftOut > 0 ? `, the first ${kind.length}` : ''}`
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    table(caption, ['phase', 'operation', 'peer', 'blocks', 'which'], rows),
  )
}
