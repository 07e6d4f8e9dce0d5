import { operationWords, type RankView } from '../../../src/report/plan-view.js'
import { h, panel, table } from '../dom.js'
import { figure } from '../format.js'
import type { RankSource } from '../source.js'

export interface RankPanel {
  readonly element: HTMLElement
  /** @param isWanted whether it still is when its program is there @returns what it is, in words */
  show(rank: number, isWanted: () => boolean): Promise<string | null>
}

/** The neighbors of a rank and its program. */
export function rankPanel(ranks: number, source: RankSource, onPick: (rank: number) => void): RankPanel {
  const input = h('input', { type: 'number', min: 0, max: ranks - 1, value: 0, name: 'rank', required: true })
  const result = h(
    'div',
    { class: 'rank-result' },
    h('p', { class: 'note' }, 'Pick a vertex of the graph, or enter a rank.'),
  )
  const show = async (rank: number, isWanted: () => boolean) => {
    input.value = String(rank)
    const [program, neighborhood] = await Promise.all([source.program(rank), source.neighborhood(rank)])
    if (!isWanted()) return null
    const parts: HTMLElement[] = []
    if (neighborhood !== null)
      parts.push(
        h(
          'p',
          {},
          h('strong', {}, `Sends to ${counted(neighborhood.out.length)}: `),
          ...listed(neighborhood.out, onPick),
        ),
        h(
          'p',
          {},
          h('strong', {}, `Receives from ${counted(neighborhood.in.length)}: `),
          ...listed(neighborhood.in, onPick),
        ),
      )
    if (program !== null) parts.push(programTable(program))
    if (program === null) parts.push(h('p', { class: 'note' }, source.whyNoProgram))
    result.replaceChildren(h('h3', {}, `Rank ${rank}`), ...parts)
    const neighbors =
      neighborhood === null
        ? ''
        : ` sends to ${counted(neighborhood.out.length)}, receives from ${counted(neighborhood.in.length)},`
    const operations = program === null ? 'no program here' : `${figure(program.kind.length)} operations`
    return `Rank ${rank}:${neighbors} ${operations}`
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

function counted(ranks: number): string {
  return `${figure(ranks)} ${ranks === 1 ? 'rank' : 'ranks'}`
}

/** Ranks as buttons, so that edges can be followed without the graph. */
function listed(ranks: readonly number[], onPick: (rank: number) => void): (HTMLElement | string)[] {
  const shown = ranks
    .slice(0, 100)
    .map((rank) =>
      h(
        'button',
        { type: 'button', class: 'link', 'aria-label': `rank ${rank}`, onclick: () => onPick(rank) },
        rank,
      ),
    )
  return ranks.length > 100 ? [...shown, `and ${figure(ranks.length - 100)} more`] : shown
}

function programTable({ rank, phase, kind, peer, after, blocks, block, leftOut }: RankView): HTMLElement {
  const rows = kind.map((k, i) => {
    const names = block[i].map((b) => (b < 0 ? `~${~b}` : String(b)))
    if (blocks[i] > names.length) names.push('…')
    return [
      figure(phase[i]),
      operationWords[k],
      peer[i] === -1 ? '' : String(peer[i]),
      ...(after === null ? [] : [after[i] === -1 ? '' : figure(after[i])]),
      figure(blocks[i]),
      names.join(' '),
    ]
  })
  const heads = ['phase', 'operation', 'peer', ...(after === null ? [] : ['after phase'])]
  const caption = `Program of rank ${rank}: ${kind.length + leftOut} operations${leftOut > 0 ? `, the first ${kind.length}` : ''}`
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    table(caption, [...heads, 'blocks', 'blocks of ranks'], rows),
  )
}
