import type Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

const iterations = 160
const sliceMs = 24

/**
 * Lays a graph out by ForceAtlas2 (Jacomy, Venturini, Heymann, Bastian 2014), in slices so that the page
 * answers meanwhile. It works on a copy, because every change of the graph itself is drawn. The same graph
 * gives the same layout.
 *
 * @returns stops it
 */
export function layOut(graph: Graph): () => void {
  const copy = graph.copy()
  const settings = { ...forceAtlas2.inferSettings(copy), barnesHutOptimize: copy.order > 300 }
  let left = iterations
  let timer = 0
  const slice = () => {
    const end = performance.now() + sliceMs
    do {
      // A call makes one iteration, because one of 2,000 vertices takes about as long as a slice.
      forceAtlas2.assign(copy, { iterations: 1, settings })
      left--
    } while (left > 0 && performance.now() < end)
    if (left > 0) timer = setTimeout(slice)
    else
      graph.updateEachNodeAttributes((node, attributes) =>
        copy.hasNode(node)
          ? { ...attributes, x: copy.getNodeAttribute(node, 'x'), y: copy.getNodeAttribute(node, 'y') }
          : attributes,
      )
  }
  timer = setTimeout(slice)
  return () => clearTimeout(timer)
}
