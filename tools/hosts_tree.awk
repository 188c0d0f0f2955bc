# For tools/hosts: reads a tree of switches and hosts as docs/topology.md describes lists of links, and prints the network
# in lines of "switch NUMBER UPPER RATE" and "host NAME UPPER RATE". Switches come from the root, number 0, down; hosts in
# the order in which the file names them.
#
# usage: awk -v rate=BITS_PER_SECOND -v most_hosts=COUNT -f hosts_tree.awk FILE

function fail(line, problem) {
  printf "tools/hosts: --topology %s:%d: %s\n", ARGV[1], line, problem >"/dev/stderr"
  failed = 1
  exit 2
}

function vertex_of(name) {
  if (name !~ /^[A-Za-z][A-Za-z0-9._-]*$/ || length(name) > 63) {
    fail(NR, "'" name "' is no name of a host or switch; expected a list of links, '" format "', names of letters, " \
      "digits, '.', '_' and '-', which begin with a letter")
  }
  if (name == "launcher" || name == "localhost") fail(NR, "'" name "' is no host's name here; expected another one")
  if (!(name in numbers)) {
    numbers[name] = ++count
    names[count] = name
    lines[count] = NR
  }
  return numbers[name]
}

# The number that all have which are joined with a vertex.
function joined(vertex) {
  while (vertex in joined_to) vertex = joined_to[vertex]
  return vertex
}

function add_link(a, b, capacity) {
  if (joined(a) == joined(b)) fail(NR, "a second way between '" $1 "' and '" $2 "'; expected a tree")
  joined_to[joined(a)] = joined(b)
  neighbours[a] = neighbours[a] " " b
  neighbours[b] = neighbours[b] " " a
  degree[a]++
  degree[b]++
  rates[a, b] = rates[b, a] = sprintf("%.0f", capacity * rate)
}

BEGIN { format = "NAME NAME' or 'NAME NAME CAPACITY" }

{ sub(/#.*/, "") }

NF == 0 { next }

{
  if (NF == 1 || NF > 3) fail(NR, NF " words; expected '" format "'")
  capacity = NF == 3 ? $3 : 1
  if (capacity !~ /^[0-9]+(\.[0-9]+)?$/ || capacity == 0 || (rate > 0 && capacity * rate < 1)) {
    fail(NR, "capacity '" capacity "'; expected a number above 0, such as 4 or 0.5, by which --rate is multiplied")
  }
  add_link(vertex_of($1), vertex_of($2), capacity)
}

END {
  if (failed) exit 2
  root = 0
  for (vertex = count; vertex > 0; vertex--) {
    if (degree[vertex] > 1) root = vertex
    else hosts++
  }
  if (!root) fail(NR, "no switch; expected a name with several links")
  if (hosts > most_hosts) fail(NR, hosts " hosts; expected " most_hosts " at most")

  switches[0] = root
  switch_count = 1
  for (at = 0; at < switch_count; at++) {
    lower_count = split(neighbours[switches[at]], lowers, " ")
    for (i = 1; i <= lower_count; i++) {
      lower = lowers[i]
      if (lower == root || lower in upper) continue
      upper[lower] = at
      if (degree[lower] == 1) continue
      printf "switch %d %d %s\n", switch_count, at, rates[lower, switches[at]]
      switches[switch_count++] = lower
    }
  }
  for (vertex = 1; vertex <= count; vertex++) {
    if (vertex != root && !(vertex in upper)) {
      fail(lines[vertex], "'" names[vertex] "' has no way to '" names[root] "'; expected one tree")
    }
    if (degree[vertex] == 1) {
      printf "host %s %d %s\n", names[vertex], upper[vertex], rates[vertex, switches[upper[vertex]]]
    }
  }
}
