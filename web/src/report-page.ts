import type { Report } from '../../src/report/report-html.js'
import { neighborhoodView, rowsOf } from '../../src/report/topology-view.js'
import { h } from './dom.js'
import type { RankSource } from './source.js'
import { allViews } from './views/all.js'

/** A report: the views of what is in the file. */
export function showReport(page: HTMLElement, { topology, plan, madeBy }: Report): void {
  const rows = topology.adjacency === null ? null : rowsOf(topology.adjacency)
  const source: RankSource = {
    neighborhood: async (rank) => (rows === null ? topology.neighborhood : neighborhoodView(rows, rank)),
    whyNoProgram:
      'The program of this rank is not in this file: it has those of the ranks in the timeline (report --ranks).',
    program: async (rank) => plan?.ranks.find((view) => view.rank === rank) ?? null,
  }
  const what = plan === null ? '' : `, ${plan.collective} by ${plan.strategy}`
  document.title = `${topology.name}${what} · Rankweave`
  page.replaceChildren(
    h(
      'header',
      { class: 'bar' },
      h('h1', {}, topology.name, h('small', {}, what.slice(2))),
      h('span', { class: 'made-by' }, madeBy),
    ),
    h('main', {}, allViews(topology, plan, source).element),
    h('div', { id: 'announcements', class: 'visually-hidden', 'aria-live': 'polite' }),
  )
}
