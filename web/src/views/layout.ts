import type Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

const iterations = 160
const sliceMs = 24

/**
 * Lays a graph out by ForceAtlas2 (Jacomy, Venturini, Heymann, Bastian 2014), a slice per frame so that the page answers meanwhile.
 * The same graph gives the same layout.
 *
 * @returns stops it
 */
export function layOut(graph: Graph, onSlice: () => void): () => void {
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 300 }
  let left = iterations
  let frame = 0
  const slice = () => {
    const end = performance.now() + sliceMs
    do {
      forceAtlas2.assign(graph, { iterations: 4, settings })
      left -= 4
    } while (left > 0 && performance.now() < end)
    onSlice()
    if (left > 0) frame = requestAnimationFrame(slice)
  }
  frame = requestAnimationFrame(slice)
  return () => cancelAnimationFrame(frame)
}
