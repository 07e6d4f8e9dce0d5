// What the threads of a pool run: the functions that packages find by name.
export { diffuse } from './programs/heat.js'
export { countByBin } from './programs/histogram.js'
export { sumsOfClusters } from './programs/k-means.js'
export { rowsOf } from './programs/mandelbrot.js'
export { sumOfStrips } from './programs/pi.js'
export { square } from './programs/small-tasks.js'
export { mergeShares, sortShare } from './programs/sort.js'
export { multiplyRows } from './programs/sparse-product.js'
