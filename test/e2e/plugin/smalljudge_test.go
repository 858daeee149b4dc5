package plugin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// sender is a port that something in scope sends from.
type sender struct {
	at  [2]int
	end *smallEnd
}

// senders is whoever is in scope.
func (c *smallCase) senders() []sender {
	var all []sender
	for i := range c.net[0].ends {
		if e := &c.net[0].ends[i]; e.needs <= c.tables[0].scope {
			all = append(all, sender{e.at, e})
		}
	}
	return all
}

// usable is the service levels, as bits, on which a sender may send to a LID, by any of some tables.
func (c *smallCase) usable(s sender, home *smallEnd, lid, mixed int, answers bool) uint16 {
	bits := c.tables[0].contract
	add := func(level int) {
		if level < 16 {
			bits |= 1 << level
		}
	}
	for k := range mixed {
		add(c.level(k, s.at[0], lid))
		for back := s.end.lid; answers && !c.tables[0].directed && back < s.end.lid+1<<s.end.lmc; back++ {
			add(c.level(k, home.at[0], back))
		}
	}
	return bits
}

// follow goes from a switch by the new tables, or by some of before, in the network as it is. It says
// where packets end: where the LID is, at a dead end, in a circle, or at a port that is not there.
func (c *smallCase) follow(k, s, lid int) string {
	n := c.net[0]
	home := n.owner(lid)
	for range len(n.ports) + 1 {
		p, row := c.tables[k].out, c.rows[k][s]
		if row < 0 || lid >= len(p[row]) || p[row][lid] == 255 {
			return "lost"
		}
		at := [2]int{s, p[row][lid]}
		if at[1] > n.ports[s] {
			return "no port"
		}
		if at == home.at {
			return "arrives"
		}
		next, trunk := n.trunk(at)
		if !trunk {
			return "lost"
		}
		s = next[0]
	}
	return "circle"
}

// found is the switches on the longest path, and the pairs of a switch with adapters and a LID that are cut.
func (c *smallCase) found() (hops, cut int) {
	n := c.net[0]
	for s := range n.ports {
		hosts := slices.ContainsFunc(n.ends, func(e smallEnd) bool { return e.at[0] == s && e.kind != 3 })
		for lid := range n.lids {
			home := n.owner(lid)
			if home == nil {
				continue
			}
			if c.follow(0, s, lid) != "arrives" {
				if hosts || c.tables[0].scope == 2 {
					cut++
				}
				continue
			}
			deep := 1
			for at := s; at != home.at[0] || c.tables[0].out[at][lid] != home.at[1]; deep++ {
				at = n.flat[at][c.tables[0].out[at][lid]][0]
			}
			hops = max(hops, deep)
		}
	}
	return hops, cut
}

// beyond is what is wrong with a case whatever the ranks: of what the plugin asks for more than the
// proven checker does, or of what is not in a case of that checker. Empty: nothing.
func (c *smallCase) beyond() string {
	n, t := c.net[0], c.tables[0]
	if c.malformed() {
		return "malformed"
	}
	if c.kept && c.foreign() {
		return "of another network"
	}
	used := t.contract
	for s := range n.ports {
		hosts := slices.ContainsFunc(n.ends, func(e smallEnd) bool { return e.at[0] == s && e.kind != 3 })
		for lid := range n.lids {
			if n.owner(lid) == nil {
				continue
			}
			if t.sl[s][lid] > 15 {
				return "a service level that is none"
			}
			if hosts {
				used |= 1 << t.sl[s][lid]
			}
			switch end := c.follow(0, s, lid); {
			case end == "no port", end == "circle":
				return end
			case end == "lost" && (hosts || t.scope == 2):
				cut := t.step && (len(c.tables) == 1 || t.drops || c.follow(1, s, lid) != "arrives")
				if !cut {
					return "lost"
				}
			}
		}
	}
	lanes := false
	for _, m := range t.maps {
		lanes = lanes || m != [16]int{}
	}
	if lanes && !c.qos {
		return "lanes, and QoS is off"
	}
	for sl, lane := range t.adapters {
		if used>>sl&1 != 0 && lane == 15 {
			return "adapters drop what they send"
		}
	}
	if why := c.dropped(); why != "" {
		return why
	}
	return c.wrongTree()
}

// foreign reports whether tables that are to stay are for other switches or LIDs.
func (c *smallCase) foreign() bool {
	n, then := c.net[0], c.net[1]
	if !slices.Equal(n.guids, then.guids) || !slices.Equal(n.ports, then.ports) || n.lids > then.lids {
		return true
	}
	for lid := range n.lids {
		if now, was := n.owner(lid), then.owner(lid); now != nil && (was == nil || was.at[0] != now.at[0]) {
			return true
		}
	}
	return false
}

// malformed reports whether the plugin does not even take it for an answer.
func (c *smallCase) malformed() bool {
	here := 0
	if c.kept { // it was taken in the network of then
		here = 1
	}
	n, t := c.net[here], c.tables[here]
	if t.step && len(c.tables) == 1 && (!c.filled || t.more == 0) || t.drops && !t.step || t.newTree && (!t.step || t.groups == 0) {
		return true
	}
	for s := range n.ports {
		for lid := range n.lids {
			if n.owner(lid) == nil && (t.out[s][lid] != 255 || t.sl[s][lid] != 0) {
				return true
			}
		}
	}
	for _, m := range t.maps {
		if slices.Max(m[:]) > 15 {
			return true
		}
	}
	return t.groups != 0 && c.cablesOfTree(here) == nil
}

// dropped says what new tables drop on a path that leads to its end.
func (c *smallCase) dropped() string {
	n := c.net[0]
	for lid := range n.lids {
		home := n.owner(lid)
		if home == nil || home.needs > c.tables[0].scope {
			continue
		}
		for _, s := range c.senders() {
			if s.end == home || c.follow(0, s.at[0], lid) != "arrives" {
				continue
			}
			bits := c.usable(s, home, lid, 1, true)
			for sl := range 16 {
				at := s.at
				for bits>>sl&1 != 0 {
					out := c.tables[0].out[at[0]][lid]
					if out != 0 && c.tables[0].lane(at[0], at[1], out, sl) == 15 {
						return "dropped"
					}
					if [2]int{at[0], out} == home.at {
						break
					}
					at = n.flat[at[0]][out]
				}
			}
		}
	}
	return ""
}

// cablesOfTree is the ports of the tree, both ends of each cable; nil: it is none.
func (c *smallCase) cablesOfTree(k int) map[[2]int]bool {
	n, t := c.net[k], c.tables[k]
	all, roots := map[[2]int]bool{}, 0
	for s, p := range t.tree {
		if p == 0 {
			roots++
			continue
		}
		y, trunk := n.trunk([2]int{s, p})
		if !trunk {
			return nil
		}
		all[[2]int{s, p}], all[y] = true, true
		for steps := 0; t.tree[s] != 0; steps++ {
			if y, trunk = n.trunk([2]int{s, t.tree[s]}); !trunk || steps > len(n.ports) {
				return nil
			}
			s = y[0]
		}
	}
	if roots != 1 {
		return nil
	}
	return all
}

// wrongTree says what is wrong with the tree, whatever the ranks.
func (c *smallCase) wrongTree() string {
	n, t := c.net[0], c.tables[0]
	if t.groups == 0 || c.kept {
		return ""
	}
	cables := c.cablesOfTree(0)
	for x := range cables {
		for in := range n.ports[x[0]] + 1 {
			from := [2]int{x[0], in}
			sends := cables[from] || slices.ContainsFunc(n.ends, func(e smallEnd) bool { return e.at == from })
			for sl := range 16 {
				if sends && in != x[1] && t.groups>>sl&1 != 0 && t.lane(x[0], in, x[1], sl) == 15 {
					return "dropped in the tree"
				}
			}
		}
	}
	if !t.step || t.newTree || len(c.tables) == 1 {
		return ""
	}
	was := c.tables[1]
	if was.groups&^t.groups != 0 {
		return "the tree is for fewer service levels"
	}
	for s, old := range c.rows[1] {
		p := max(0, c.treeOf(old, was))
		far, there := n.trunk([2]int{s, p})
		if !there || p == 0 || cables[[2]int{s, p}] {
			continue
		}
		if then, _ := c.net[1].trunk([2]int{old, p}); c.net[1].guids[then[0]] == n.guids[far[0]] {
			return "a cable left the tree"
		}
	}
	return ""
}

// questions is the case, as far as it is about ranks, for the proven checker: all must hold.
func (c *smallCase) questions() [][]byte {
	var all [][]byte
	n, t := c.net[0], c.tables[0]
	low := 0 // the checker's LIDs are the case's less this one, where those are too many for its lines
	if n.lids > 1000 {
		low = n.lids
		for _, n := range c.net {
			for _, e := range n.ends {
				low = min(low, e.lid-1)
			}
		}
	}
	c.used = make([][wide]bool, len(n.ports))
	for s := range n.ports {
		for lid := range n.lids {
			for k := range c.mixed() {
				c.used[s][c.outOf(k, s, lid)%wide] = true
			}
			if b, ok := c.blocks[s]; ok {
				c.used[s][b[lid]%wide] = true
			}
		}
	}
	for x := range c.cablesOfTree(0) {
		c.used[x[0]][x[1]] = true
	}
	head := []byte("switches")
	head = appendInts(head, n.ports...)
	head = append(head, "\nlids "...)
	head = strconv.AppendInt(head, int64(n.lids-1-low), 10)
	head = append(head, '\n')
	for x, y := range n.peer {
		if slices.Compare(x[:], y[:]) < 0 {
			head = append(appendInts(append(head, "cable"...), x[0], x[1], y[0], y[1]), '\n')
		}
	}
	var ranks []byte
	for at, rank := range t.rank {
		x := [2]int{at[0], at[1]}
		if _, trunk := n.trunk(x); trunk && rank >= 0 && at[2] < t.lanes && at[2] < c.lanesOf(x) {
			ranks = append(appendInts(append(ranks, "rank"...), at[0], at[1], at[2], rank), '\n')
		}
	}
	paths := slices.Clone(head)
	senders := c.senders()
	for _, s := range senders {
		paths = append(appendInts(append(paths, "host"...), s.at[0], s.at[1], s.end.lid-low, 1<<s.end.lmc), '\n')
	}
	var tables []byte
	for k := range c.mixed() {
		tables = append(tables, "tables\n"...)
		for s := range n.ports {
			tables = appendInts(append(tables, "out"...), s)
			for lid := low; lid < n.lids; lid++ {
				tables = appendInts(tables, min(c.outOf(k, s, lid), 255))
			}
			tables = append(tables, '\n')
		}
		tables = c.appendMaps(tables, k, false)
		for i, s := range senders {
			tables = appendInts(append(tables, "levels"...), i)
			for lid := low; lid < n.lids; lid++ {
				tables = appendInts(tables, c.level(k, s.at[0], lid))
			}
			tables = append(tables, '\n')
		}
	}
	if c.mixed() > 1 && len(c.blocks) > 0 { // what switches have confirmed: as if it were tables, with the new maps and levels
		tables = append(tables, "tables\n"...)
		for s, ports := range c.blocks {
			tables = append(appendInts(appendInts(append(tables, "out"...), s), ports[low:]...), '\n')
		}
		tables = c.appendMaps(tables, 0, false)
		for i, s := range senders {
			tables = appendInts(append(tables, "levels"...), i)
			for lid := low; lid < n.lids; lid++ {
				tables = appendInts(tables, c.level(0, s.at[0], lid))
			}
			tables = append(tables, '\n')
		}
	}
	ask := func(contract string) {
		arrive := "arrive\n"
		if t.step {
			arrive = "" // pairs may be cut; who is not is followed in Go
		}
		all = append(all, slices.Concat(paths, []byte("contract "+contract+"\n"+arrive), tables, ranks, []byte("judge\n")))
	}
	switch {
	case t.contract == 0xFFFF:
		ask("any")
	case t.directed:
		ask("directed")
	default:
		ask("honored")
		for sl := range 16 {
			if t.contract>>sl&1 != 0 {
				ask("single:" + strconv.Itoa(sl))
			}
		}
	}
	return append(all, c.treeQuestions(head, ranks)...)
}

// appendMaps adds the maps of tables between ports where packets come in and others where they leave; of
// a tree, packets never go back by where they came in.
func (c *smallCase) appendMaps(b []byte, k int, tree bool) []byte {
	n := c.net[0]
	for s, ports := range n.ports {
		for in := range ports + 1 {
			x := [2]int{s, in}
			_, trunk := n.trunk(x)
			if !trunk && !slices.ContainsFunc(n.ends, func(e smallEnd) bool { return e.at == x }) {
				continue
			}
			for out := range ports + 1 {
				if !c.used[s][out] {
					continue
				}
				from, plain := len(b), true
				b = appendInts(append(b, "map"...), s, in, out)
				for sl := range 16 {
					lane := c.laneOf(k, s, in, out, sl)
					if tree && in == out {
						lane = 15
					}
					plain = plain && lane == 0
					b = appendInts(b, lane)
				}
				b = append(b, '\n')
				if plain { // as without the line
					b = b[:from]
				}
			}
		}
	}
	return b
}

// treeQuestions is the tree as paths to a LID of which each switch may take any cable of the tree.
func (c *smallCase) treeQuestions(head, ranks []byte) [][]byte {
	n, t := c.net[0], c.tables[0]
	if t.groups == 0 || c.kept {
		return nil
	}
	cables := c.cablesOfTree(0)
	ways, most := make([][]int, len(n.ports)), 1
	for s, ports := range n.ports {
		for p := range ports + 1 {
			if cables[[2]int{s, p}] {
				ways[s] = append(ways[s], p)
			}
		}
		most = max(most, len(ways[s]))
	}
	b := append(slices.Clone(head[:bytes.IndexByte(head, '\n')]), '\n')
	b = append(b, "lids 1\n"...)
	rest := head[bytes.IndexByte(head, '\n')+1:]
	b = append(b, rest[bytes.IndexByte(rest, '\n')+1:]...)
	for _, e := range n.ends {
		b = append(appendInts(append(b, "host"...), e.at[0], e.at[1], 0, 0), '\n')
	}
	// Whoever has the LID is on a port of its own, where nothing gets to: what is asked is whether ranks rise on the way.
	b = bytes.Replace(b, appendInts([]byte("switches"), n.ports...), appendInts([]byte("switches"), append([]int{n.ports[0] + 1}, n.ports[1:]...)...), 1)
	b = append(appendInts(append(b, "host"...), 0, n.ports[0]+1, 1, 1), '\n')
	one := func(way int, k int) {
		b = append(b, "tables\n"...)
		for s := range n.ports {
			if len(ways[s]) > 0 {
				b = append(appendInts(append(b, "out"...), s, 255, ways[s][min(way, len(ways[s])-1)]), '\n')
			}
		}
		b = c.appendMaps(b, k, true)
	}
	for way := range most {
		one(way, 0)
	}
	if t.step && !t.newTree {
		for k := 1; k < len(c.tables); k++ {
			one(0, k)
		}
	}
	var all [][]byte
	for sl := range 16 {
		if t.groups>>sl&1 != 0 {
			all = append(all, slices.Concat([]byte("contract single:"+strconv.Itoa(sl)+"\n"), nil))
			all[len(all)-1] = slices.Concat(b, ranks, all[len(all)-1], []byte("judge\n"))
		}
	}
	return all
}

// rankAll gives the lanes ranks that rise along every dependency, or along all but some, or as far as
// there is no circle; as low as they can be, so that every dependency counts.
func (c *smallCase) rankAll(d draw) {
	n, t := c.net[0], c.tables[0]
	if c.kept && c.foreign() {
		return
	}
	type held struct{ s, port, lane int }
	next := map[held]map[held]bool{}
	mixed, answers := c.mixed(), true
	var deaf int // one in so many senders is left out
	switch d.IntN(8) {
	case 0:
		answers = false
	case 1:
		mixed = 1
	case 2:
		deaf = 4
	case 3:
		deaf = 16
	}
	note := func(from *held, to held) bool {
		_, known := next[to]
		if !known {
			next[to] = map[held]bool{}
		}
		if from != nil && !next[*from][to] {
			next[*from][to] = true
			return true
		}
		return !known
	}
	type state struct {
		h  held
		sl int
	}
	lidOf := map[int]map[state]bool{}
	var walk func(from *held, at [2]int, sl, lid int, outs func(s, in int) []int)
	walk = func(from *held, at [2]int, sl, lid int, outs func(s, in int) []int) {
		for _, out := range outs(at[0], at[1]) {
			if _, trunk := n.trunk([2]int{at[0], out}); !trunk {
				continue
			}
			for k := range mixed {
				lane := c.laneOf(k, at[0], at[1], out, sl)
				if lane == 15 {
					continue
				}
				h := held{at[0], out, lane}
				note(from, h)
				if st := (state{h, sl}); !lidOf[lid][st] {
					lidOf[lid][st] = true
					walk(&h, n.flat[at[0]][out], sl, lid, outs)
				}
			}
		}
	}
	for lid := range n.lids {
		home := n.owner(lid)
		if home == nil || home.needs > t.scope {
			continue
		}
		lidOf[lid] = map[state]bool{}
		outs := func(s, _ int) []int {
			var all []int
			for k := range mixed {
				all = append(all, c.outOf(k, s, lid))
			}
			if b, ok := c.blocks[s]; ok && mixed > 1 {
				all = append(all, b[lid])
			}
			return all
		}
		for _, s := range c.senders() {
			if s.end == home || deaf > 0 && d.once(deaf) {
				continue
			}
			bits := c.usable(s, home, lid, mixed, answers)
			for sl := range 16 {
				if bits>>sl&1 != 0 {
					walk(nil, s.at, sl, lid, outs)
				}
			}
		}
	}
	if cables := c.cablesOfTree(0); t.groups != 0 && cables != nil && !d.once(6) {
		if t.newTree {
			mixed = 1
		}
		lidOf[0] = map[state]bool{}
		outs := func(s, in int) []int {
			var all []int
			for p := range n.ports[s] + 1 {
				if cables[[2]int{s, p}] && p != in {
					all = append(all, p)
				}
			}
			return all
		}
		for s, ports := range n.ports {
			for in := range ports + 1 {
				for sl := range 16 {
					if _, trunk := n.trunk([2]int{s, in}); t.groups>>sl&1 != 0 && !trunk {
						walk(nil, [2]int{s, in}, sl, 0, outs)
					}
				}
			}
		}
	}
	depth := map[held]int{}
	var below func(h held) int
	below = func(h held) int {
		if at, known := depth[h]; known {
			return max(at, 0) // on a circle: 0, which will not rise
		}
		depth[h] = -1
		deep := 0
		for to := range next[h] {
			deep = max(deep, below(to)+1)
		}
		depth[h] = deep
		return deep
	}
	order := slices.SortedFunc(keysOf(next), func(a, b held) int {
		return slices.Compare([]int{a.s, a.port, a.lane}, []int{b.s, b.port, b.lane})
	})
	high := 0
	for _, h := range order {
		high = max(high, below(h))
	}
	for _, h := range order {
		t.rank[[3]int{h.s, h.port, h.lane}] = high - depth[h]
	}
}

// smallCases is how many cases TestSmallCases draws: 100,000, of a sample 2,000, and with WEFT_THOROUGH 10,000,000, or as
// many as WEFT_CASES says.
func smallCases(t testing.TB) int {
	if text := os.Getenv("WEFT_CASES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if os.Getenv("WEFT_THOROUGH") != "" {
		return 10_000_000
	}
	return testnet.Of(100_000, 2_000)
}

// TestSmallCases draws networks of up to five switches, tables, steps and trees on them, with ranks
// that rise and ranks that do not everywhere, and holds the plugin's verdict against that of the
// checker which is extracted from the machine-checked proof. Beside the ranks the plugin asks for
// more than that checker does (beyond): for the rest the verdicts are the same, both ways.
//
// The reasons of refusals are held against the case too (isTrue), and so are the longest path, the pairs
// that are cut, and the part of a tree that joins some switches.
//
// WEFT_CASES_AT names a folder where the cases are left, as weft-core reads them, with the answers
// that are due: build/scripts/mutants has the plugin's mutants answer them.
func TestSmallCases(t *testing.T) {
	t.Parallel()
	const chunk = 2000
	checker := live.ProofChecker(t)
	program := filepath.Join(live.Plugin(t, "weft-core", ""), "weft-core")
	count := map[string]int{}
	var mutex sync.Mutex
	work := make(chan uint64)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			var messages, text bytes.Buffer // kept from chunk to chunk: clearing new ones took a fifth of the time
			for seed := range work {
				messages.Reset()
				text.Reset()
				found, err := smallChunk(t, checker, program, seed, chunk, &messages, &text)
				mutex.Lock()
				for what, n := range found {
					count[what] += n
				}
				mutex.Unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	total := smallCases(t)
	for seed := range uint64((total + chunk - 1) / chunk) {
		if t.Failed() {
			break
		}
		if seed > 0 && seed%100 == 0 { // a run of millions takes an hour
			mutex.Lock()
			t.Log(seed*chunk, count)
			mutex.Unlock()
		}
		work <- seed
	}
	close(work)
	workers.Wait()
	t.Log(count)
	for _, what := range []string{"plain proven", "plain refused by ranks", "plain refused beyond", "step proven", "step refused by ranks", "step refused beyond", "tree proven", "tree refused by ranks", "about nobody", "kept", "kept proven"} {
		if count[what] < total/500 {
			t.Errorf("%d of %d cases are %q: the trial is one-sided", count[what], total, what)
		}
	}
}

// smallChunk draws cases and compares the verdicts. messages and text are empty.
func smallChunk(t *testing.T, checker, program string, seed uint64, n int, messages, text *bytes.Buffer) (map[string]int, error) {
	cases, asked := make([]*smallCase, n), make([]int, n)
	beyond := make([]string, n)
	for i := range cases {
		c := draw{rand.New(rand.NewPCG(seed, uint64(i)))}.small()
		cases[i] = c
		if err := c.message(messages); err != nil {
			return nil, err
		}
		if beyond[i] = c.beyond(); beyond[i] == "" {
			questions := c.questions()
			asked[i] = len(questions)
			for _, q := range questions {
				text.Write(q)
			}
		}
	}
	dir := os.Getenv("WEFT_CASES_AT")
	if dir == "" {
		dir = t.TempDir()
	}
	file := filepath.Join(dir, fmt.Sprintf("%d.cases", seed))
	if err := os.WriteFile(file, messages.Bytes(), 0o600); err != nil {
		return nil, err
	}
	verdicts, err := exec.Command(program, "cases", file, "-").CombinedOutput()
	lines := strings.Split(string(verdicts), "\n")
	if err != nil || len(lines) != n+1 {
		return nil, fmt.Errorf("weft-core: %v, %d verdicts on %d cases: %s", err, len(lines)-1, n, verdicts[max(0, len(verdicts)-2000):])
	}
	cmd := exec.Command(checker, "--cases")
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = text, &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("seed %d: weft-proof: %v: %s", seed, err, complaint.Bytes())
	}
	answers := strings.Split(string(out), "\n")
	count, wrong, due := map[string]int{}, []string{}, []byte{}
	for i, c := range cases {
		mine := answers[:asked[i]]
		answers = answers[asked[i]:]
		want, why := "p", ""
		for _, a := range mine {
			switch {
			case a == "holds":
			case a == "refused nobody":
				want = "n"
			case strings.HasPrefix(a, "refused "):
				want, why = "u", a
			default:
				return nil, fmt.Errorf("seed %d, case %d: weft-proof says %q", seed, i, a)
			}
			if want == "u" {
				break
			}
		}
		kind := "plain "
		if c.tables[0].step {
			kind = "step "
		} else if c.tables[0].groups != 0 {
			kind = "tree "
		}
		switch {
		case beyond[i] == "malformed":
			want = "m"
			count["malformed"]++
		case c.kept:
			if count["kept"]++; beyond[i] != "" {
				want = "u"
			} else if want == "p" {
				count["kept proven"]++
			}
		case beyond[i] != "":
			want = "u"
			count[kind+"refused beyond"]++
		case want == "u":
			count[kind+"refused by ranks"]++
		case want == "n":
			count["about nobody"]++
		default:
			count[kind+"proven"]++
		}
		if want == "p" || want == "n" {
			hops, cut := c.found()
			want = fmt.Sprintf("%s %d %d %s", want, hops, cut, c.covered())
		}
		due = append(append(due, lines[i]...), '\n')
		got, said, _ := strings.Cut(lines[i], " ")
		if want == "u" || want == "m" {
			if got == want && !c.isTrue(said) {
				wrong = append(wrong, fmt.Sprintf("seed %d, case %d: the plugin says %q, which is not so", seed, i, said))
			}
		} else {
			got = lines[i]
		}
		if got != want {
			wrong = append(wrong, fmt.Sprintf("seed %d, case %d: the plugin says %q, not %q; beyond ranks: %q, by ranks: %q", seed, i, lines[i], want, beyond[i], why))
		}
	}
	if os.Getenv("WEFT_CASES_AT") == "" {
		os.Remove(file) // there are too many to keep
	} else if err := os.WriteFile(strings.TrimSuffix(file, "cases")+"due", due, 0o600); err != nil {
		return count, err
	}
	if len(wrong) > 0 {
		return count, fmt.Errorf("%d wrong of %d:\n%s", len(wrong), n, strings.Join(wrong[:min(len(wrong), 5)], "\n"))
	}
	return count, nil
}
