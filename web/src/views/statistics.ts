import type { PlanView } from '../../../src/report/plan-view.js'
import type { TopologyView } from '../../../src/report/topology-view.js'
import { h, panel, table } from '../dom.js'
import { bytes, change, figure, time } from '../format.js'

/** Makes the line of key figures: those of the topology, and what the plan saves. */
export function keyFigures({ statistics }: TopologyView, plan: PlanView | null): HTMLElement {
  const figures: (readonly [string, string, string])[] = [
    ['ranks', figure(statistics.ranks), ''],
    ['edges', figure(statistics.edges), `${figure(statistics.degree.mean)} per rank`],
  ]
  if (plan !== null) {
    const { planned, direct } = plan.statistics
    figures.push([
      'messages per rank',
      figure(planned.messages.meanPerRank),
      `${figure(direct.messages.meanPerRank)} direct, ${change(planned.messages.planned, direct.messages.planned)}`,
    ])
    if (planned.messages.interNode !== null && direct.messages.interNode !== null)
      figures.push([
        'messages between nodes',
        figure(planned.messages.interNode),
        `${figure(direct.messages.interNode)} direct, ${change(planned.messages.interNode, direct.messages.interNode)}`,
      ])
    if (plan.simulation !== null) {
      const { speedup, planned: after, direct: before } = plan.simulation
      figures.push(
        ['simulated time', time(after.timeUs), `${time(before.timeUs)} direct`],
        ['speedup, simulated', `${figure(speedup)}×`, `${bytes(plan.simulation.bytes)} per block`],
      )
    }
  }
  return h(
    'dl',
    { class: 'key-figures' },
    ...figures.map(([name, value, more]) =>
      h(
        'div',
        {},
        h('dt', {}, name),
        h('dd', {}, h('strong', {}, value), more === '' ? null : h('small', {}, more)),
      ),
    ),
  )
}

export function statisticsPanel(topology: TopologyView, plan: PlanView | null): HTMLElement {
  const { statistics: s } = topology
  const ofTopology = table(
    'Topology',
    ['', 'value'],
    [
      ['ranks', figure(s.ranks)],
      ['edges', figure(s.edges)],
      [
        'destinations per rank',
        `${figure(s.degree.min)} to ${figure(s.degree.max)}, mean ${figure(s.degree.mean)}`,
      ],
      [
        'sources per rank',
        `${figure(s.inDegree.min)} to ${figure(s.inDegree.max)}, mean ${figure(s.inDegree.mean)}`,
      ],
      ['density', `${(100 * s.density).toPrecision(3)}%`],
      ['reciprocity', `${(100 * s.reciprocity).toPrecision(3)}%`],
      ['self loops', figure(s.selfLoops)],
      ['parallel edges', figure(s.parallelEdges)],
    ],
  )
  if (plan === null) return panel('Statistics', { class: 'panel' }, ofTopology)
  const { planned: p, direct: d } = plan.statistics
  const row = (name: string, before: number, after: number, text = figure) =>
    [name, text(before), text(after), change(after, before)] as const
  const rows = [
    row('messages', d.messages.planned, p.messages.planned),
    row('messages per rank, mean', d.messages.meanPerRank, p.messages.meanPerRank),
    row('messages per rank, max', d.messages.maxPerRank, p.messages.maxPerRank),
    ...(d.messages.interNode === null || p.messages.interNode === null
      ? []
      : [row('messages between nodes', d.messages.interNode, p.messages.interNode)]),
    row('blocks sent', d.volumeBlocks, p.volumeBlocks),
  ]
  if (plan.simulation !== null) {
    const { direct: before, planned: after } = plan.simulation
    rows.push(
      row('simulated time', before.timeUs, after.timeUs, time),
      row('mean wait per rank, simulated', before.meanWaitUs, after.meanWaitUs, time),
      row('bytes in the network', before.traffic.network.bytes, after.traffic.network.bytes, bytes),
      row(
        'bytes inside nodes',
        before.traffic.node.bytes + before.traffic.package.bytes,
        after.traffic.node.bytes + after.traffic.package.bytes,
        bytes,
      ),
    )
  }
  const facts: (readonly [string, string])[] = [
    ['operation', plan.collective],
    ['strategy', plan.strategy],
    ...Object.entries(plan.parameters).map(([name, value]) => [name, String(value)] as const),
  ]
  if (plan.groups !== null)
    facts.push([
      'friend groups',
      `${figure(plan.groups.count)} in ${plan.groups.steps} ${plan.groups.steps === 1 ? 'step' : 'steps'}`,
    ])
  if (plan.simulation !== null) {
    const { machine, profile, remark } = plan.simulation
    facts.push(['machine', machine], ['profile', profile])
    if (remark !== null) facts.push(['remark', remark])
  }
  if (plan.planMs !== null) facts.push(['planning, measured', time(plan.planMs * 1000)])
  return panel(
    'Statistics',
    { class: 'panel wide' },
    h(
      'div',
      { class: 'tables' },
      table('Plan compared with direct sends', ['', 'direct', 'planned', 'change'], rows),
      h('div', { class: 'facts' }, table('How it was made', ['', ''], facts)),
      ofTopology,
    ),
  )
}
