/** How to write a topology and a machine: part of the help of every command that takes them. */
export const specHelp = `
SPEC is one line of text:
  moore:64x64:r=4           every rank talks to all within radius 4 of a grid that wraps around (:open, if not)
  er:1024:d=0.2:seed=1      a random fifth of all pairs of 1024 ranks
  cart:8x8x8:periodic       the nearest neighbors on a grid
  mtx:FILE:ranks=256        who needs whose rows when a Matrix Market file is multiplied by 256 ranks
  edges:FILE                a list of edges, one "from to" per line`

export const machineHelp = `
A machine is one line of text: cluster:nodes=103,cores=40, or cluster:cores=102x40+16 for uneven nodes.
Ranks fill node 0 first.`
