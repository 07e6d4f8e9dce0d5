import Graph from 'graphology'
import Sigma from 'sigma'
import { EdgeLineProgram } from 'sigma/rendering'
import type { GraphView, NeighborhoodView, TopologyView } from '../../../src/report/topology-view.js'
import { positionOf, vertexOf } from '../../../src/report/topology-view.js'
import { styleValue } from '../colors.js'
import { figure } from '../format.js'
import { layOut } from './layout.js'

/**
 * Whether WebGL has no graphics processor here: then the page waits for frames, and edges are lines of one
 * pixel.
 */
function isDrawnByProcessor(): boolean {
  drawnByProcessor ??=
    document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true }) === null
  return drawnByProcessor
}

let drawnByProcessor: boolean | undefined

interface Events {
  readonly onPick: (vertex: number) => void
  readonly onHover: (text: string | null) => void
}

/**
 * The graph as sigma draws it. A rank that is picked and its neighbors are vertices of their own where
 * vertices are tiles.
 */
export class GraphPicture {
  readonly #graph = new Graph({ type: 'undirected', multi: true })
  readonly #sigma: Sigma
  readonly #view: GraphView
  #colors = nodeColors()
  #stopLayout: () => void = () => {}
  #picked: ReadonlySet<string> | null = null
  #rank: string | null = null

  /** @throws where there is no WebGL */
  constructor(holder: HTMLElement, view: GraphView, color: (vertex: number) => string, events: Events) {
    this.#view = view
    const largest = view.size.reduce((most, size) => Math.max(most, size), 1)
    const radius = Math.min(9, Math.max(2, 110 / Math.sqrt(view.vertices)))
    for (let v = 0; v < view.vertices; v++) {
      const angle = (2 * Math.PI * v) / view.vertices
      this.#graph.addNode(String(v), {
        x: view.position?.x[v] ?? Math.cos(angle),
        y: view.position?.y[v] ?? Math.sin(angle),
        size: radius * (0.6 + 0.4 * Math.sqrt(view.size[v] / largest)),
        color: color(v),
      })
    }
    const heaviest = view.edges.reduce((most, edges) => Math.max(most, edges), 1)
    // Many thin lines make a surface, few must be seen one by one.
    const thinnest = view.from.length > 6000 ? 0.4 : 0.8
    for (let i = 0; i < view.from.length; i++)
      this.#graph.addEdge(String(view.from[i]), String(view.to[i]), {
        size: thinnest + 1.4 * (view.edges[i] / heaviest) * (heaviest > 2 ? 1 : 0.3),
      })
    this.#sigma = new Sigma(this.#graph, holder, {
      ...this.#style(),
      renderLabels: false,
      renderEdgeLabels: false,
      ...(isDrawnByProcessor()
        ? { hideEdgesOnMove: view.from.length > 2_000, edgeProgramClasses: { line: EdgeLineProgram } }
        : { hideEdgesOnMove: view.from.length > 20_000 }),
      minEdgeThickness: 0.5,
      itemSizesReference: 'screen',
      zIndex: true,
      allowInvalidContainer: true,
      nodeReducer: (node, data) => {
        if (node === this.#rank)
          return { ...data, color: this.#colors.critical, size: Math.max(6, data['size'] * 1.4), zIndex: 3 }
        return this.#picked === null || this.#picked.has(node)
          ? data
          : { ...data, color: this.#colors.dim, zIndex: 0 }
      },
      edgeReducer: (edge, data) =>
        this.#picked === null || data['picked'] === true
          ? data
          : { ...data, hidden: !this.#isAmongPicked(edge) },
    })
    this.#sigma.on('clickNode', ({ node }) => events.onPick(this.#isRank(node) ? -1 : Number(node)))
    this.#sigma.on('enterNode', ({ node }) => events.onHover(this.#nameOf(node)))
    this.#sigma.on('leaveNode', () => events.onHover(null))
    if (view.position === null) this.#stopLayout = layOut(this.#graph)
  }

  color(color: (vertex: number) => string): void {
    for (let v = 0; v < this.#view.vertices; v++) this.#graph.setNodeAttribute(String(v), 'color', color(v))
    this.#sigma.refresh()
  }

  restyle(): void {
    this.#colors = nodeColors()
    for (const [name, value] of Object.entries(this.#style()))
      this.#sigma.setSetting(name as 'defaultEdgeColor', value)
    this.#sigma.refresh()
  }

  zoom(factor: number): void {
    const camera = this.#sigma.getCamera()
    camera.animate({ ratio: camera.getState().ratio * factor }, { duration: 120 })
  }

  /** By a tenth of what is shown, to the right and up. */
  move(right: number, up: number): void {
    const camera = this.#sigma.getCamera()
    const { x, y, ratio } = camera.getState()
    camera.animate({ x: x + 0.1 * ratio * right, y: y + 0.1 * ratio * up }, { duration: 120 })
  }

  /** Draws the picture, and keeps a copy for printers: WebGL discards its drawing with the frame. */
  show(): void {
    this.#sigma.refresh({ schedule: false })
    const { edges, nodes } = this.#sigma.getCanvases()
    const copy = document.createElement('canvas')
    copy.className = 'print-picture'
    copy.width = nodes.width
    copy.height = nodes.height
    const context = copy.getContext('2d')
    for (const layer of [edges, nodes]) context?.drawImage(layer, 0, 0)
    const holder = this.#sigma.getContainer()
    holder.querySelector('.print-picture')?.remove()
    holder.append(copy)
  }

  reset(): void {
    this.#sigma.getCamera().animatedReset({ duration: 120 })
  }

  /** Shows a rank with its neighbors, and dims all others. */
  pick({ rank, out, in: into }: NeighborhoodView, { graph, statistics }: TopologyView): void {
    this.clear()
    const accent = styleValue('--accent')
    const isAggregated = graph.vertices < statistics.ranks
    const name = (r: number) => (isAggregated ? `r${r}` : String(r))
    const picked = new Set<string>()
    for (const r of new Set([rank, ...out, ...into])) {
      picked.add(name(r))
      if (isAggregated)
        this.#graph.addNode(name(r), {
          ...this.#placeOf(r),
          size: 3,
          color: accent,
          zIndex: 2,
        })
    }
    for (const r of new Set([...out, ...into])) {
      if (r === rank) continue
      this.#graph.addEdge(name(rank), name(r), { size: 1.6, color: accent, picked: true, zIndex: 2 })
    }
    this.#picked = picked
    this.#rank = name(rank)
    this.#sigma.refresh()
  }

  clear(): void {
    this.#picked = null
    this.#rank = null
    for (const edge of this.#graph.filterEdges((_, { picked }) => picked === true)) this.#graph.dropEdge(edge)
    for (const node of this.#graph.filterNodes((node) => this.#isRank(node))) this.#graph.dropNode(node)
    this.#sigma.refresh()
  }

  close(): void {
    this.#stopLayout()
    this.#sigma.kill()
  }

  #style() {
    return { defaultEdgeColor: styleValue('--edge'), defaultNodeColor: styleValue('--muted') }
  }

  #isAmongPicked(edge: string): boolean {
    const [a, b] = this.#graph.extremities(edge)
    return this.#picked?.has(a) === true && this.#picked.has(b)
  }

  #isRank(node: string): boolean {
    return node.startsWith('r')
  }

  #nameOf(node: string): string {
    if (this.#isRank(node)) return `rank ${node.slice(1)}`
    const size = this.#view.size[Number(node)]
    const community = `community ${this.#view.community[Number(node)]}`
    return size === 1 ? `rank ${node}, ${community}` : `vertex ${node}: ${figure(size)} ranks, ${community}`
  }

  /** Returns the place of a rank: its own in a grid of tiles, one around the place of its block otherwise. */
  #placeOf(rank: number): { readonly x: number; readonly y: number } {
    const { tiling } = this.#view
    if (tiling.kind === 'tiles') {
      const [x, y] = positionOf(tiling.dims, rank)
      return { x, y }
    }
    const { x, y } = this.#graph.getNodeAttributes(String(vertexOf(tiling, rank))) as { x: number; y: number }
    const angle = (2 * Math.PI * (rank % tiling.ranks)) / tiling.ranks
    const [low, high] = this.#sigma.getBBox().x
    const radius = (high - low) / 80
    return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) }
  }
}

/** Read once: reducers are called for every vertex of every frame. */
function nodeColors() {
  return { dim: styleValue('--dim'), critical: styleValue('--critical') }
}
