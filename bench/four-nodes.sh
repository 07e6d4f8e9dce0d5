#!/usr/bin/env bash
# Runs a command beside four nodes of this machine: network namespaces, joined by a bridge without a way out. Processes of Open MPI on
# one node share memory, those of two nodes use TCP. Needs root, iproute2 and Open MPI.
#
#   four-nodes.sh PROCESSES COMMAND...
#
# COMMAND finds in its environment FOUR_NODES_MPIRUN: a command that takes the place of mpirun -n PROCESSES, with its options. It deals
# the processes over the nodes in blocks. Ends with the exit code of COMMAND, and leaves no node.
set -euo pipefail
PROCESSES=$1 NODES=4 NET=10.79.0; shift
DIR=$(mktemp -d "${TMPDIR:-/tmp}/rankweave-nodes.XXXXXX")

# One at a time: the names of nodes are those of the machine. The command and what it starts do not hold the lock.
exec 9>"${TMPDIR:-/tmp}/rankweave-four-nodes.lock"
flock 9

# Ends what still runs on the nodes: without their network a launcher cannot end it, and it would keep a node without a name.
remove_nodes() {
  for i in $(seq "$NODES"); do
    ip netns pids "rwfour$i" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
    ip netns del "rwfour$i" 2>/dev/null || true
    ip link del "rwlink$i" 2>/dev/null || true
  done
  ip link del rwfour 2>/dev/null || true
}
JOB=
down() {
  if [ -n "$JOB" ]; then kill "$JOB" 2>/dev/null && wait "$JOB" || true; fi
  remove_nodes
  rm -rf "$DIR"
}
trap down EXIT
trap "exit 143" INT TERM

# What a run that was killed has left.
remove_nodes
ip link add rwfour type bridge
ip addr add "$NET.254/24" dev rwfour
ip link set rwfour up
for i in $(seq "$NODES"); do
  ip netns add "rwfour$i"
  ip link add "rwlink$i" type veth peer name eth0 netns "rwfour$i"
  ip link set "rwlink$i" master rwfour up
  ip -n "rwfour$i" addr add "$NET.$i/24" dev eth0
  ip -n "rwfour$i" link set eth0 up
  ip -n "rwfour$i" link set lo up
  echo "$NET.$i slots=$(((PROCESSES + NODES - 1) / NODES))" >>"$DIR/hosts"
done
# In place of ssh: AGENT HOST COMMAND...
cat >"$DIR/agent" <<'AGENT'
#!/usr/bin/env bash
node=rwfour${1##*.}; shift
exec nsenter --net="/run/netns/$node" unshare --uts bash -c 'hostname "$0"; exec bash -c "$1"' "$node" "$*"
AGENT
cat >"$DIR/mpirun" <<MPIRUN
#!/usr/bin/env bash
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec nsenter --net=/run/netns/rwfour1 unshare --uts bash -c 'hostname rwfour1; exec "\$@"' - \\
  mpirun.openmpi --mca plm_rsh_agent "$DIR/agent" --mca btl self,vader,tcp --mca btl_tcp_if_include "$NET.0/24" \\
  --mca oob_tcp_if_include "$NET.0/24" --mca mpi_yield_when_idle 1 --hostfile "$DIR/hosts" --bind-to none -n $PROCESSES "\$@"
MPIRUN
chmod +x "$DIR/agent" "$DIR/mpirun"
export FOUR_NODES_MPIRUN=$DIR/mpirun
# In the background: bash hears signals while it waits for it. Its input would be empty there.
"$@" <&0 9>&- &
JOB=$!
wait "$JOB" && CODE=0 || CODE=$?
JOB=
exit "$CODE"
