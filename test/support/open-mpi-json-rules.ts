/** A rule as Open MPI 6 has it after it has read the file. */
interface ReadRule {
  readonly least: number
  readonly greatest: number
  readonly algorithm: number
  readonly fanout: number
  readonly segment: number
  readonly requests: number
}

/** Names that the reader of Open MPI 6 knows; it drops the whole file for another one. */
const collectives = [
  ...['allgather', 'allreduce', 'alltoall', 'barrier', 'bcast', 'gather', 'reduce', 'scatter'],
  ...['reduce_scatter', 'reduce_scatter_block'],
]

/**
 * Reads rules in JSON as `coll_tuned_dynamic_file.c` and `coll_tuned_dynamic_rules.c` of Open MPI 6 do. It fails on
 * members that these do not read. Returns what a communicator and a size get; null for the library's own choice.
 */
export function openMpiJsonChoice(text: string) {
  const { rule_file_version, module, collectives: all, ...others } = JSON.parse(text)
  if (rule_file_version !== 3 || module !== 'tuned' || Object.keys(others).length > 0)
    throw new Error('not a file of rules for tuned')
  const unknown = Object.keys(all).find((name) => !collectives.includes(name))
  if (unknown !== undefined) throw new Error(`unknown collective ${unknown}`)
  const whole = (value: unknown, otherwise: number): number => {
    if (value === undefined) return otherwise
    if (!Number.isSafeInteger(value) || (value as number) < 0)
      throw new Error(`expected an integer, got ${value}`)
    return value as number
  }
  const readRule = (rule: Record<string, unknown>): ReadRule => {
    const { msg_size_min, msg_size_max, alg, faninout, seg_size, reqs, ...more } = rule
    if (alg === undefined || Object.keys(more).length > 0) throw new Error(`bad rule ${JSON.stringify(rule)}`)
    return {
      least: whole(msg_size_min, 0),
      greatest: whole(msg_size_max, Number.POSITIVE_INFINITY),
      algorithm: whole(alg, 0),
      fanout: whole(faninout, 0),
      segment: whole(seg_size, 0),
      requests: whole(reqs, 0),
    }
  }
  const read = Object.entries(all as Record<string, Record<string, unknown>[]>).map(([name, sizes]) => ({
    name,
    sizes: sizes.map((size) => {
      const { comm_size_min, comm_size_max, comm_rank_distribution, rules, ...more } = size
      if (!Array.isArray(rules) || Object.keys(more).length > 0)
        throw new Error('bad rules of a communicator')
      if (!['any', 'one-per-node', 'single-node'].includes(String(comm_rank_distribution)))
        throw new Error(`unknown distribution ${comm_rank_distribution}`)
      return {
        least: whole(comm_size_min, 0),
        greatest: whole(comm_size_max, 2 ** 31 - 1),
        distribution: comm_rank_distribution,
        rules: rules.map(readRule),
      }
    }),
  }))
  return (collective: string, nodes: number, perNode: number, size: number) => {
    const ranks = nodes * perNode
    const holds = (distribution: unknown) =>
      distribution === 'any' || (distribution === 'single-node' ? nodes === 1 : perNode === 1)
    const sizes = read.find(({ name }) => name === collective)?.sizes ?? []
    const found = sizes.find((one) => holds(one.distribution) && one.least <= ranks && ranks <= one.greatest)
    const rule = found?.rules.find(({ least, greatest }) => least <= size && size <= greatest)
    if (rule === undefined || rule.algorithm === 0) return null
    const { algorithm, fanout, segment, requests } = rule
    return { algorithm, fanout, segment, requests }
  }
}
