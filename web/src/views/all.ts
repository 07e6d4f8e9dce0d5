import type { PlanView } from '../../../src/report/plan-view.js'
import type { TopologyView } from '../../../src/report/topology-view.js'
import { announce, h } from '../dom.js'
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
  /** The rank that was picked last. */
  picked(): number | null
  /** @param isTold whether it is announced, too */
  pick(rank: number, isTold?: boolean): void
  close(): void
}

/** All pictures of a topology and of its plan. The page and reports show the same. */
export function allViews(topology: TopologyView, plan: PlanView | null, source: RankSource): Views {
  const closing = new AbortController()
  const { signal: closed } = closing
  let picked: number | null = null
  const pick = async (rank: number, isTold = true) => {
    picked = rank
    const isPicked = () => picked === rank && !closed.aborted
    try {
      const [text] = await Promise.all([rankProgram.show(rank, isPicked), graph.pick(rank, isPicked)])
      if (text !== null && isTold) announce(text)
    } catch (error) {
      announce(`Rank ${rank}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const clear = () => {
    picked = null
  }
  const ranks = topology.statistics.ranks
  const beside = (step: 1 | -1) => (picked === null ? 0 : (picked + step + ranks) % ranks)
  const graph = graphPanel(
    topology,
    plan,
    source,
    { pick, clear, step: (step) => pick(beside(step)) },
    closed,
  )
  const rankProgram = rankPanel(ranks, source, pick)
  const pictures: (HTMLElement | null)[] = [graph.element]
  if (plan !== null) {
    pictures.push(trafficPanel(plan, closed))
    if (plan.simulation !== null) pictures.push(timelinePanel(plan.simulation, closed))
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
    picked: () => picked,
    pick,
    close: () => {
      closing.abort()
      graph.close()
    },
  }
}

function both({ direct, planned }: PlanView['messages']['sent']) {
  return [
    { label: 'direct', className: 'direct', histogram: direct },
    { label: 'planned', className: 'planned', histogram: planned },
  ]
}
