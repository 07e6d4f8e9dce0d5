/** The syntax of a topology and a machine: part of the help of every command that takes them. */
export const specHelp = `
SPEC is one line of text:
  moore:64x64:r=4           every rank sends to all ranks within radius 4 on a periodic grid (:open: not periodic)
  stencil:64x64:star:r=1    every rank sends to the same offsets: star, box, diamond, or offsets=0,1/1,0
  cart:8x8x8:periodic       the nearest neighbors on a grid
  er:1024:d=0.2:seed=1      Erdos-Renyi: an edge from each rank to each other of 1024 with probability 0.2
  rgg:1024:r=0.05:seed=1    random geometric: points in a unit square, neighbors within 0.05 (:dim=3, :periodic)
  ws:1024:k=8:p=0.1:seed=1  small world: a ring with 8 neighbors each, 10% of the edges rewired
  powerlaw:1024:d=8:seed=1  power law with mean degree 8 (:gamma=2.5 before the seed)
  rmat:1024:d=16:seed=1     R-MAT with the Graph500 probabilities (:p=0.57,0.19,0.19,0.05 before the seed)
  mtx:FILE:ranks=256        the exchange of rows when 256 ranks multiply by a Matrix Market file
  metis:FILE                a METIS graph file
  csv:FILE                  source, destination and optional weight per line (:delimiter=comma, semicolon, tab or bar)
  graphology:FILE           a JSON export of graphology
  edges:FILE                a list of edges, one "from to" per line
A FILE may be gzip-compressed, whatever its name; - is standard input.`

export const machineHelp = `
A machine is one line of text:
  cluster:nodes=103,cores=40       nodes on one switch; cluster:cores=102x40+16 for uneven nodes
  torus:dims=8x8x16,cores=4        a node at each router of a grid; mesh:dims=8x8 does not wrap, wrap=110 wraps two dimensions
  clos:radix=40,levels=2,taper=4   nodes below switches, 4 ports down per port up; nodes=1024 uses part of them
  FILE.xml,nodes=16                16 nodes, each as described by lstopo --of xml
  slurm                            the nodes and tasks of the Slurm job, from SLURM_* (by=cpus: its processors)
  hosts:FILE                       a host file with host:16 or host slots=16 per line
,packages=2 divides each node's cores into packages; ,profile=NAME or ,profile=FILE.json sets message costs; ,ports=6
lets a node send six messages into the network at once. Ranks fill node 0 first.`

/** The help on planning for ranks that a mapping has placed. */
export const mapHelp = `
--map auto places the ranks on the cores of --machine before planning, as rankweave map does by default. --map FILE uses
a mapping written by rankweave map -o FILE. The ranks of the plan are then slots: rank s runs the vertex in slot s.`
