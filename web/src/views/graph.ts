import type { PlanView } from '../../../src/report/plan-view.js'
import type { TopologyView } from '../../../src/report/topology-view.js'
import { vertexOf } from '../../../src/report/topology-view.js'
import { onScheme } from '../colors.js'
import { choice, h, panel, table } from '../dom.js'
import { figure } from '../format.js'
import type { RankSource } from '../source.js'
import { type Coloring, colorings } from './graph-colors.js'
import { GraphPicture } from './graph-picture.js'

export interface GraphPanel {
  readonly element: HTMLElement
  /** Shows a rank and its neighbors. @param isWanted whether it still is when they are there */
  pick(rank: number, isWanted: () => boolean): Promise<void>
  close(): void
}

interface Picking {
  readonly pick: (rank: number) => void
  readonly clear: () => void
  /** Picks the next rank, or the one before. */
  readonly step: (step: 1 | -1) => void
}

/** A topology as a graph. */
export function graphPanel(
  topology: TopologyView,
  plan: PlanView | null,
  source: RankSource,
  picking: Picking,
  closed: AbortSignal,
): GraphPanel {
  const { graph } = topology
  const available = colorings(topology, plan)
  let coloring: Coloring = available[0]
  const holder = h('div', {
    class: 'graph',
    role: 'application',
    'aria-roledescription': 'graph',
    tabindex: 0,
    'aria-label': `${description(topology)} ${keys}`,
    onkeydown: (event) => {
      const act = actions[(event as KeyboardEvent).key]
      if (act === undefined) return
      event.preventDefault()
      act()
    },
  })
  const readout = h('p', { class: 'readout' }, hint(topology))
  const key = h('p', { class: 'keys' })
  let picture: GraphPicture | null = null
  const open = () => {
    if (picture !== null) return
    try {
      picture = new GraphPicture(holder, graph, coloring.color, {
        onPick: (vertex) => picking.pick(firstRankOf(topology, vertex)),
        onHover: (text) => {
          readout.textContent = text ?? hint(topology)
        },
      })
    } catch {
      holder.replaceChildren(
        h('p', { class: 'note' }, 'No WebGL here: the table below has the heaviest edges.'),
      )
    }
  }
  const watched = new ResizeObserver(() => {
    if (holder.clientWidth > 0) open()
  })
  watched.observe(holder)
  const recolor = () => {
    picture?.color(coloring.color)
    key.textContent = coloring.text
  }
  recolor()
  onScheme(() => picture?.restyle(), closed)
  addEventListener('beforeprint', () => picture?.show(), { signal: closed })
  const controls = h(
    'div',
    { class: 'choices' },
    choice(
      'Color by',
      available.map(({ name, label }) => [name, label] as const),
      coloring.name,
      (name) => {
        coloring = available.find((each) => each.name === name) ?? available[0]
        recolor()
      },
    ),
    key,
  )
  const clear = h(
    'button',
    {
      type: 'button',
      disabled: true,
      onclick: () => clearPicked(),
    },
    'Clear',
  )
  const clearPicked = () => {
    picture?.clear()
    picking.clear()
    clear.disabled = true
    readout.textContent = hint(topology)
  }
  const actions: Readonly<Record<string, () => void>> = {
    '+': () => picture?.zoom(1 / 1.6),
    '=': () => picture?.zoom(1 / 1.6),
    '-': () => picture?.zoom(1.6),
    '0': () => picture?.reset(),
    ArrowLeft: () => picture?.move(-1, 0),
    ArrowRight: () => picture?.move(1, 0),
    ArrowUp: () => picture?.move(0, 1),
    ArrowDown: () => picture?.move(0, -1),
    PageDown: () => picking.step(1),
    PageUp: () => picking.step(-1),
    Escape: clearPicked,
  }
  const toolbar = h(
    'div',
    { class: 'toolbar' },
    h('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => picture?.zoom(1 / 1.6) }, '+'),
    h('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => picture?.zoom(1.6) }, '−'),
    h('button', { type: 'button', onclick: () => picture?.reset() }, 'Whole'),
    clear,
    readout,
  )
  const pick = async (rank: number, isWanted: () => boolean) => {
    const neighborhood = await source.neighborhood(rank)
    if (neighborhood === null || !isWanted()) return
    picture?.pick(neighborhood, topology)
    clear.disabled = false
    readout.textContent = `rank ${rank}: sends to ${neighborhood.out.length}, receives from ${neighborhood.in.length}`
  }
  const element = panel(
    'Topology',
    { class: 'panel' },
    controls,
    holder,
    toolbar,
    h('details', {}, h('summary', {}, 'As a table: the heaviest edges'), heaviest(topology)),
  )
  const close = () => {
    watched.disconnect()
    picture?.close()
  }
  return { element, pick, close }
}

const keys =
  'Plus and minus zoom, arrow keys move, 0 shows the whole, page down and page up pick the next rank and the one before, escape clears.'

function description({ name, statistics, graph }: TopologyView): string {
  return `Graph of ${name}: ${figure(statistics.ranks)} ranks, ${figure(statistics.edges)} edges, ${figure(graph.communities)} communities.`
}

function hint({ graph, statistics }: TopologyView): string {
  const shown =
    graph.vertices === statistics.ranks
      ? `${figure(graph.vertices)} ranks`
      : `${figure(graph.vertices)} vertices, each of about ${figure(statistics.ranks / graph.vertices)} ranks`
  const left = graph.pairsLeftOut > 0 ? `; ${figure(graph.pairsLeftOut)} light edges not drawn` : ''
  return `${shown}${left}. Click a vertex, enter a rank below, or press Page Down here.`
}

function firstRankOf({ graph, statistics }: TopologyView, vertex: number): number {
  for (let rank = 0; rank < statistics.ranks; rank++) if (vertexOf(graph.tiling, rank) === vertex) return rank
  return 0
}

function heaviest({ graph }: TopologyView): HTMLElement {
  const order = graph.edges
    .map((_, i) => i)
    .sort((a, b) => graph.edges[b] - graph.edges[a] || a - b)
    .slice(0, 20)
  const what = graph.size.every((size) => size === 1) ? 'rank' : 'vertex'
  return table(
    'Pairs with the most edges, both directions',
    [what, what, 'edges'],
    order.map((i) => [String(graph.from[i]), String(graph.to[i]), figure(graph.edges[i])]),
  )
}
