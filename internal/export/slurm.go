package export

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// branch is a switch of Slurm's tree: a leaf with hosts, or what joins some branches.
// Slurm knows trees only; the spines of a pod are one branch, as jobs see them.
type branch struct {
	name     string
	hosts    []string // of a leaf
	children []string // names of branches
}

// tree is the branches of a network, leaves first. Where the fabric has levels, what is
// joined without the levels above is a branch; where it has groups, each is one. A host is
// below the switch of its first adapter. Parts of the network that no cable joins have no
// branch in common: no job can run in both.
//
// left is the adapters that are in no branch, because Slurm could not know a host by the name
// in their descriptions.
func tree(n *result.ReportNetwork) (all []branch, left []int32, err error) {
	s := &shaper{n: n, used: map[string]bool{}}
	s.leaves()
	if len(s.all) == 0 {
		return nil, nil, fmt.Errorf("%s: no adapter has the name of a host in its description, and Slurm's nodes are hosts", n.Name)
	}
	top := int32(0)
	for _, l := range n.Nodes.Level {
		top = max(top, l)
	}
	switch {
	case n.Shape == "groups":
		s.join(func(v int32) int32 { return n.Nodes.Group[v] }, "group")
	case top > 0:
		for cut := int32(1); cut < top; cut++ {
			part := s.joined(cut)
			s.join(func(v int32) int32 { return part[v] }, "pod")
		}
	}
	part := s.joined(top)
	s.join(func(v int32) int32 { return part[v] }, "fabric")
	return s.all, s.left, nil
}

// shaper makes a tree.
type shaper struct {
	n    *result.ReportNetwork
	used map[string]bool // names of branches
	all  []branch        // so far, children before parents
	open []pending       // branches that have no parent yet
	left []int32         // adapters of no host that Slurm could know
}

// pending is a branch with one of the switches that it stands for.
type pending struct {
	name string
	at   int32
}

// unfit is what Slurm does not take in a name.
var unfit = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// unique is a name that Slurm takes and no other branch has, and notes it as used: name, with otherwise behind it where it is taken.
func (s *shaper) unique(name, otherwise string) string {
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-")
	if name == "" || s.used[name] {
		name += "-" + otherwise
	}
	s.used[name] = true
	return name
}

// leaves makes a branch for every switch with hosts, and notes the adapters whose hosts Slurm could not know.
func (s *shaper) leaves() {
	n := s.n
	hosts := map[int32][]string{}
	seen := map[string]bool{}
	order := make([]int, len(n.Ports.Node))
	for e := range order {
		order[e] = e
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return words.Natural(n.Nodes.Name[n.Ports.Node[a]], n.Nodes.Name[n.Ports.Node[b]])
	})
	for _, e := range order {
		at := n.Ports.Switch[e]
		host, _ := names.HostOf(&fabric.Node{Kind: fabric.Adapter, Name: n.Nodes.Name[n.Ports.Node[e]]})
		if at < 0 || n.Ports.Class[e] != int32(fabric.HostAdapter) || seen[host] {
			continue
		}
		if host == "" || unfit.MatchString(host) {
			if !slices.Contains(s.left, n.Ports.Node[e]) {
				s.left = append(s.left, n.Ports.Node[e])
			}
			continue
		}
		seen[host] = true
		hosts[at] = append(hosts[at], host)
	}
	for v := range int32(len(n.Nodes.X)) {
		if len(hosts[v]) == 0 {
			continue
		}
		name := s.unique(n.Nodes.Short[v], n.Nodes.GUID[v])
		s.all = append(s.all, branch{name: name, hosts: hosts[v]})
		s.open = append(s.open, pending{name, v})
	}
}

// joined numbers the parts that the switches up to a level form, without those above: [switch] its part, -1 above the level.
func (s *shaper) joined(cut int32) []int32 {
	n := s.n
	next := make([][]int32, len(n.Nodes.X))
	for i := range n.Cables.Trunks {
		a, b := n.Cables.A[i], n.Cables.B[i]
		if n.Nodes.Level[a] <= cut && n.Nodes.Level[b] <= cut {
			next[a], next[b] = append(next[a], b), append(next[b], a)
		}
	}
	part := slices.Repeat([]int32{-1}, len(next))
	count := int32(0)
	for v := range int32(len(part)) {
		if part[v] >= 0 || n.Nodes.Level[v] > cut {
			continue
		}
		part[v] = count
		for queue := []int32{v}; len(queue) > 0; queue = queue[1:] {
			for _, u := range next[queue[0]] {
				if part[u] < 0 {
					part[u] = count
					queue = append(queue, u)
				}
			}
		}
		count++
	}
	return part
}

// join gives open branches whose switches have the same number a parent, which is then open in their place; kind is what its name
// begins with. A branch that is alone with its number stays open as it is, and so does one without a number (-1).
func (s *shaper) join(number func(v int32) int32, kind string) {
	members := map[int32][]pending{}
	var order []int32
	var open []pending
	for _, p := range s.open {
		k := number(p.at)
		if k < 0 {
			open = append(open, p)
			continue
		}
		if members[k] == nil {
			order = append(order, k)
		}
		members[k] = append(members[k], p)
	}
	count := 0
	for _, k := range order {
		list := members[k]
		if len(list) == 1 || len(order) == 1 && kind != "fabric" { // alone, or everything: the last join does that
			open = append(open, list...)
			continue
		}
		count++
		name := kind
		if len(order) > 1 {
			name = fmt.Sprintf("%s-%d", kind, count)
		}
		b := branch{name: s.unique(name, fmt.Sprint(len(s.all)))}
		for _, p := range list {
			b.children = append(b.children, p.name)
		}
		s.all = append(s.all, b)
		open = append(open, pending{b.name, list[0].at})
	}
	s.open = open
}

// comment is text for a line that begins with #.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' { // YAML ends lines at these two as well
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// leftOut is a comment on the adapters that are in no branch.
func leftOut(n *result.ReportNetwork, left []int32) string {
	if len(left) == 0 {
		return ""
	}
	const most = 3
	var some []string
	for _, v := range left[:min(len(left), most)] {
		some = append(some, fmt.Sprintf("%s (%s)", n.Nodes.GUID[v], comment(n.Nodes.Name[v])))
	}
	if len(left) > most {
		some = append(some, "…")
	}
	return fmt.Sprintf("# Adapters left out, as the description names no host that Slurm could know: %d: %s\n", len(left), strings.Join(some, ", "))
}

// writeSlurm writes topology.conf.
func writeSlurm(w *bufio.Writer, n *result.ReportNetwork) error {
	all, left, err := tree(n)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "# %s\n# For slurm.conf: TopologyPlugin=topology/tree\n%s", comment(n.Name), leftOut(n, left))
	for _, b := range all {
		fmt.Fprintf(w, "SwitchName=%s", b.name)
		if b.hosts != nil {
			fmt.Fprintf(w, " Nodes=%s", HostList(b.hosts))
		}
		if b.children != nil {
			fmt.Fprintf(w, " Switches=%s", HostList(b.children))
		}
		w.WriteString("\n")
	}
	return nil
}

// writeSlurmYAML writes topology.yaml.
func writeSlurmYAML(w *bufio.Writer, n *result.ReportNetwork) error {
	all, left, err := tree(n)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "# %s\n%s- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n", comment(n.Name), leftOut(n, left))
	for _, b := range all {
		fmt.Fprintf(w, "      - switch: %q\n", b.name)
		if b.hosts != nil {
			fmt.Fprintf(w, "        nodes: %q\n", HostList(b.hosts))
		}
		if b.children != nil {
			fmt.Fprintf(w, "        children: %q\n", HostList(b.children))
		}
	}
	return nil
}

var counted = regexp.MustCompile(`^(.*?)(\d{1,9})$`)

// HostList writes names as Slurm does: a1, a2, a3 and a7 are a[1-3,7].
func HostList(list []string) string {
	type member struct {
		digits string
		value  int
	}
	type stem struct {
		text  string
		width int // of numbers with zeros in front; 0: without
	}
	var order []stem
	numbers := map[stem][]member{}
	var parts []string
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(words.Natural(a, b), cmp.Compare(a, b)) })
	for _, name := range slices.Compact(sorted) {
		m := counted.FindStringSubmatch(name)
		if m == nil {
			parts = append(parts, name)
			continue
		}
		value := 0
		for _, d := range m[2] {
			value = 10*value + int(d-'0')
		}
		k := stem{text: m[1]}
		if m[2][0] == '0' && len(m[2]) > 1 {
			k.width = len(m[2])
		} else if _, padded := numbers[stem{m[1], len(m[2])}]; padded { // 099 and 100 are of one width
			k.width = len(m[2])
		}
		if numbers[k] == nil {
			order = append(order, k)
		}
		numbers[k] = append(numbers[k], member{m[2], value})
	}
	for _, k := range order {
		all := numbers[k]
		slices.SortFunc(all, func(a, b member) int { return cmp.Compare(a.value, b.value) })
		var ranges []string
		for i := 0; i < len(all); {
			j := i
			for j+1 < len(all) && all[j+1].value == all[j].value+1 {
				j++
			}
			if i == j {
				ranges = append(ranges, all[i].digits)
			} else {
				ranges = append(ranges, all[i].digits+"-"+all[j].digits)
			}
			i = j + 1
		}
		if len(all) == 1 {
			parts = append(parts, k.text+all[0].digits)
		} else {
			parts = append(parts, k.text+"["+strings.Join(ranges, ",")+"]")
		}
	}
	return strings.Join(parts, ",")
}
