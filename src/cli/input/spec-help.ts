/** The syntax of a topology and a machine: part of the help of every command that takes them. */
export const specHelp = `
SPEC is one line of text:
  moore:64x64:r=4           every rank sends to all within radius 4 of a periodic grid (:open for a grid that is not)
  stencil:64x64:star:r=1    the same offsets from every rank of a box: star, box, diamond, or offsets=0,1/1,0
  cart:8x8x8:periodic       the nearest neighbors on a grid
  er:1024:d=0.2:seed=1      Erdos-Renyi: every ordered pair of 1024 ranks with probability 0.2
  rgg:1024:r=0.05:seed=1    random geometric: points in a unit square, neighbors within 0.05 (:dim=3, :periodic)
  ws:1024:k=8:p=0.1:seed=1  small world: a ring of 8 neighbors each, a tenth of the edges rewired
  powerlaw:1024:d=8:seed=1  power law: mean degree 8 (:gamma=2.5 before the seed)
  rmat:1024:d=16:seed=1     R-MAT with the probabilities of Graph500 (:p=0.57,0.19,0.19,0.05 before the seed)
  mtx:FILE:ranks=256        the row exchanges of a product with a Matrix Market file on 256 ranks
  metis:FILE                a METIS graph file
  csv:FILE                  source, destination and maybe weight per line (:delimiter=comma, semicolon, tab or bar)
  graphology:FILE           a graph that graphology exported as JSON
  edges:FILE                a list of edges, one "from to" per line
A FILE may be compressed by gzip, whatever its name; - is standard input.`

export const machineHelp = `
A machine is one line of text:
  cluster:nodes=103,cores=40       nodes behind one switch; cluster:cores=102x40+16 for uneven nodes
  torus:dims=8x8x16,cores=4        a node at each router of a grid; mesh:dims=8x8 does not wrap, wrap=110 in part
  clos:radix=40,levels=2,taper=4   nodes below switches, 4 ports down for each up; nodes=1024 for part of them
  FILE.xml,nodes=16                16 nodes as lstopo --of xml describes one
  slurm                            the nodes and tasks of the job, from SLURM_* (by=cpus: its processors)
  hosts:FILE                       a host list: host:16 or host slots=16 per line
  here                             this host, or the hosts of its job, with measured costs of MPI's messages
,packages=2 divides the cores of nodes; ,profile=NAME or ,profile=FILE.json says what messages cost; ,ports=6 lets a
node send six messages into the network at once.
Ranks fill node 0 first.`

/** The help on planning for ranks that a mapping has placed. */
export const mapHelp = `
--map auto places ranks on the cores of --machine before they are planned, as rankweave map does by default. --map FILE
takes what rankweave map -o FILE wrote. Ranks of the plan are then slots: rank s runs the vertex whose slot is s.`
