import type { PlanView } from '../../../src/report/plan-view.js'
import type { TopologyView } from '../../../src/report/topology-view.js'
import { h } from '../dom.js'
import type { RankSource } from '../source.js'
import { graphPanel } from './graph.js'
import { trafficPanel } from './heat-map.js'
import { histogramPanel } from './histogram.js'
import { rankPanel } from './rank.js'
import { sizesPanel } from './sizes.js'
import { keyFigures, statisticsPanel } from './statistics.js'
import { timelinePanel } from './timeline.js'

export interface Views {
  readonly element: HTMLElement
  close(): void
}

/** All pictures of a topology and of its plan. The page and reports show the same. */
export function allViews(topology: TopologyView, plan: PlanView | null, source: RankSource): Views {
  const pick = (rank: number) => {
    void graph.pick(rank)
    void rankProgram.show(rank)
  }
  const graph = graphPanel(topology, plan, source, pick)
  const rankProgram = rankPanel(topology.statistics.ranks, source, pick)
  const pictures: (HTMLElement | null)[] = [graph.element]
  if (plan !== null) {
    pictures.push(trafficPanel(plan))
    if (plan.simulation !== null) pictures.push(timelinePanel(plan.simulation))
    pictures.push(
      histogramPanel('Messages per rank', 'messages', [
        { caption: 'Sent', series: both(plan.messages.sent) },
        { caption: 'Received', series: both(plan.messages.received) },
      ]),
      sizesPanel(plan),
    )
    if (plan.simulation !== null)
      pictures.push(
        histogramPanel('When ranks are done', 'µs, simulated', [
          { caption: 'End of every rank', series: both(plan.simulation.ends) },
        ]),
      )
  } else {
    pictures.push(
      histogramPanel('Degrees', 'neighbors', [
        {
          caption: 'Destinations per rank',
          series: [{ label: 'out', className: 'planned', histogram: topology.degrees.out }],
        },
        {
          caption: 'Sources per rank',
          series: [{ label: 'in', className: 'planned', histogram: topology.degrees.in }],
        },
      ]),
    )
  }
  pictures.push(rankProgram.element, statisticsPanel(topology, plan))
  const shown = pictures.filter((element) => element !== null)
  return {
    element: h(
      'div',
      { class: 'views' },
      keyFigures(topology, plan),
      h('div', { class: 'panels' }, ...shown),
    ),
    close: () => graph.close(),
  }
}

function both({ direct, planned }: PlanView['messages']['sent']) {
  return [
    { label: 'direct', className: 'direct', histogram: direct },
    { label: 'planned', className: 'planned', histogram: planned },
  ]
}
