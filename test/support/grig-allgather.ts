/**
 * Where each algorithm of allgather is best, in the manner of the source's measured map: a Bruck, b recursive
 * doubling, c ring, d neighbor exchange (Pjesivac-Grbovic 2007 §6.1.3).
 */
export function bestAllgather(processes: number, bytes: number): number {
  if ((processes & (processes - 1)) === 0) return 1
  if (bytes <= 2048) return 0
  if (bytes <= 4096) return 2
  return processes % 2 === 0 ? 3 : 2
}
