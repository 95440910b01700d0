#!/bin/bash
# internet.sh NODE DIRECTORY COMMAND…: runs the command where real host names lead to stand-in servers, which are in a second network
# namespace. Started as root of its own namespaces (unshare -nm, or unshare -Urnm). The servers' log is DIRECTORY/requests.
set -euo pipefail
node=$1 directory=$2; shift 2
mount --bind "$directory/hosts" /etc/hosts
# The state of root is that of the machine: what an earlier run installed there would be used again.
if [ -w /var/lib ]; then
  mkdir -p /var/lib/nexus "$directory/state"
  mount --bind "$directory/state" /var/lib/nexus
fi
ip link set lo up
unshare -n "$node" "$(dirname "$0")/servers.mjs" "$directory" &
servers=$!
trap 'kill $servers 2>/dev/null' EXIT
until [ "$(readlink /proc/$servers/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
ip link add here type veth peer name there netns $servers
ip addr add 10.77.0.1/24 dev here; ip link set here up
inside() { nsenter -t $servers -n "$@"; }
inside ip link set lo up
inside ip addr add 10.77.0.2/24 dev there; inside ip link set there up
# Public to the rules; it is nowhere but here. The second one is of hosts that nobody may reach.
inside ip addr add 140.82.112.77/32 dev lo; inside ip addr add 140.82.112.78/32 dev lo
inside ip route add default via 10.77.0.1
ip route add default via 10.77.0.2
touch "$directory/wired"
until [ -e "$directory/listening" ]; do sleep 0.02; done
set +e
"$@"
