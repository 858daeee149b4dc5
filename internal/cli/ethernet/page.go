package ethernet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
	"github.com/weft-fabric/weft/internal/ethernet/shape"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// pageJob makes what pages and exports show of a network.
type pageJob struct {
	in    *networkInput
	f     *fabric.Fabric
	t     *trafficNetwork // nil: fewer than two adapters have routes
	load  []float64       // [LinkID] routes, where all adapters send to all
	node  []fabric.NodeID // [DeviceID]
	cable []int32         // [LinkID] its cable, by the numbers of the page
	back  []bool          // [LinkID] it leads from end b of the cable to end a
	v     *judge.Verdict
	n     *result.ReportNetwork // the result

	bySpeed bool // a route over a slow cable counts as often as the fastest cable is faster
}

// newPage describes a network with its routes for weft page and weft export; bySpeed is for the eyes of people.
func newPage(ctx context.Context, in *networkInput, name string, o *trafficFlags, bySpeed bool) (*pageJob, error) {
	own := *in // the caller's is not changed
	own.Network = &ethernet.Network{}
	*own.Network = *in.Network // gets a note
	own.fabric = nil           // interfaces are those of the devices
	if own.hosts == nil {
		own.hosts = o.adapters(&own)
	} else if o.nics > 0 {
		o = &trafficFlags{qps: o.qps, polarized: o.polarized}
	}
	j := &pageJob{in: &own, bySpeed: bySpeed}
	var err error
	if adaptersWithRoutes(&own) >= 2 {
		if j.t, err = (&trafficFlags{qps: o.qps, polarized: o.polarized}).lay(&own, name); err != nil {
			return nil, err
		}
		j.f = j.t.f
	} else if j.f, err = own.asFabric(); err != nil {
		return nil, err
	}
	if j.v, err = judge.Verify(ctx, own.Network, judge.Options{Most: 500}); err != nil {
		return nil, err
	}
	j.network(name)
	j.tables()
	return j, nil
}

// network makes j.n with devices, cables and what is odd, and j.node, j.cable and j.back.
func (j *pageJob) network(name string) {
	in, f := j.in, j.f
	n := page.NewNetwork(name, f)
	n.Ethernet, n.Warnings = true, []string{}
	j.node = make([]fabric.NodeID, len(in.Names))
	for s := range fabric.NodeID(f.Switches()) {
		j.node[in.Device(f.Node(s).Name)] = s
	}
	for _, list := range [][]string{n.Nodes.GUID, n.Ports.GUID} { // there are none, nor LIDs
		clear(list)
	}
	for _, list := range [][]int32{n.Nodes.LID, n.Ports.LID} {
		clear(list)
	}
	cableOf := make([]int32, len(f.Channels())) // [ChannelID]
	next := int32(0)
	for i := range cableOf {
		if r := f.Channel(fabric.ChannelID(i)).Reverse; r < fabric.ChannelID(i) {
			cableOf[i] = cableOf[r]
			continue
		}
		cableOf[i] = next
		next++
	}
	j.cable, j.back = make([]int32, len(in.Links)), make([]bool, len(in.Links))
	n.Cables.AName, n.Cables.BName = make([]string, n.Cables.Trunks), make([]string, n.Cables.Trunks)
	for l, link := range in.Links {
		first, _ := in.LinksFrom(link.From)
		c := f.Out(j.node[link.From], uint8(l-int(first)+1))
		j.cable[l], j.back[l] = cableOf[c], f.Channel(c).Reverse < c
		if !j.back[l] {
			n.Cables.AName[cableOf[c]], n.Cables.BName[cableOf[c]] = link.FromInterface, link.ToInterface
			j.rate(n, cableOf[c], ethernet.LinkID(l))
		}
	}
	n.Odd = []result.ReportOdd{}
	for _, odd := range shape.Of(in.Network).Odd {
		i := slices.IndexFunc(n.Odd, func(o result.ReportOdd) bool { return o.Kind == odd.Kind })
		if i < 0 {
			i = len(n.Odd)
			n.Odd = append(n.Odd, result.ReportOdd{Kind: odd.Kind, What: strings.ReplaceAll(odd.Kind, "-", " "), Places: []result.ReportPlace{}})
		}
		n.Odd[i].Places = append(n.Odd[i].Places, result.ReportPlace{Text: odd.Text, A: int(j.node[odd.Device]), B: -1, Cable: -1})
	}
	j.n = n
}

// rate says how fast a cable is, by its slower end, where that is known.
func (j *pageJob) rate(n *result.ReportNetwork, cable int32, l ethernet.LinkID) {
	if j.in.Speeds == nil {
		return
	}
	speed := min(j.in.Speeds[l], j.in.Speeds[j.in.Reverse[l]])
	if speed == 0 {
		return
	}
	text := fmt.Sprintf("%d Mb/s", speed)
	if speed%1000 == 0 {
		text = fmt.Sprintf("%d Gb/s", speed/1000)
	}
	i := slices.Index(n.Rates, text)
	if i < 0 {
		i = len(n.Rates)
		n.Rates = append(n.Rates, text)
	}
	n.Cables.Rate[cable] = int32(i)
}

// tables fills in routes with their verdict and loads.
func (j *pageJob) tables() {
	in, v := j.in, j.v
	t := &result.ReportTables{
		Name: "ECMP", Source: in.routes, Contract: "every choice of ECMP", Endpoints: v.Scope.String(), Verdict: outputs.WordOf(v),
		NotCovered: in.notCovered(), Next: []string{}, Notes: append([]string{}, in.Notes...), Dependencies: v.Dependencies, Used: len(v.Lanes),
		Pairs: v.Pairs, Unreachable: v.Unreachable, Apart: apart(in.Network), Circling: int64(v.Circles),
		Cycle: []result.ReportStep{}, Lost: []result.ReportLost{}, Tiers: []result.ReportTier{}, Lanes: []result.ReportLane{}, Levels: []result.ReportServiceLevel{}, Jobs: []result.ReportJob{},
	}
	if why := in.nothing(ethernet.HostScope); why != "" {
		t.Verdict, t.Why = result.NothingToJudge, []string{"There is nothing to judge: " + why + "."}
	} else if v.Free() {
		t.Why = append(t.Why, fmt.Sprintf("Pauses cannot wait for each other in a circle, whatever ECMP chooses%s: %s, and a rank that rises along each.", in.covered(), words.Counted(v.Dependencies, "dependency", "dependencies")))
	} else {
		t.Why = append(t.Why, fmt.Sprintf("Pauses can wait for each other in a circle of %d links, and then nothing in it ever moves again.", len(v.Cycle)))
		t.Next = append(t.Next, fmt.Sprintf("weft priorities %s --lossless %d computes rules for priorities that make it safe", in.again, in.twice()))
	}
	if v.Unreachable > 0 {
		t.Why = append(t.Why, fmt.Sprintf("%s of %s of prefixes with hosts have no sure route.", words.Thousands(v.Unreachable), words.Counted(v.Pairs, "pair", "pairs")))
	}
	if v.Circles > 0 {
		t.Why = append(t.Why, fmt.Sprintf("Packets to %s can circle for ever.", words.Counted(v.Circles, "prefix", "prefixes")))
	}
	for i, s := range outputs.EthernetSteps(in.Network, v.Cycle) {
		l := v.Cycle[i].Link
		t.Cycle = append(t.Cycle, result.ReportStep{
			Cable: int(j.cable[l]), Back: j.back[l], From: s.From + ", " + s.FromInterface, To: s.To + ", " + s.ToInterface, VL: s.Priority, Src: -1, Dst: -1,
			By: s.Prefix + ", next hop " + s.Next + "; path " + strings.Join(s.Path, " "),
		})
	}
	for i := range v.Lost {
		l := lostOf(in.Network, &v.Lost[i])
		t.Lost = append(t.Lost, result.ReportLost{Switch: int(j.node[v.Lost[i].From]), Name: l.From + " (" + l.Device + ")", Dst: l.To, Why: l.Why + " at " + l.Where, Pairs: l.Pairs})
	}
	j.loads(t)
	j.ways(t)
	j.n.Tables = append(j.n.Tables, t)
}

// loads fills in how much crosses each cable where all adapters send to all.
func (j *pageJob) loads(t *result.ReportTables) {
	in, c := j.in, &t.Load
	trunks := j.n.Cables.Trunks
	c.There, c.Back, c.LanesA, c.LanesB, c.Hottest = make([]uint32, trunks), make([]uint32, trunks), make([]int32, trunks), make([]int32, trunks), []result.ReportHot{}
	t.Hops.Pairs = []int64{0}
	j.load = make([]float64, len(in.Links))
	if j.t == nil {
		return
	}
	var demand, sum float64
	j.load, demand, _ = j.t.w.Loads()
	slower := j.slower()
	if len(slower) > 0 && slices.Max(slower) > 1 {
		t.Notes = append(t.Notes, "routes over a cable slower than the fastest count as many times more")
	}
	order := []ethernet.LinkID{}
	perLane := map[int]*result.ReportLane{}
	weighed := 0.
	for l, x := range j.load {
		sum += x
		x *= slower[l]
		j.load[l] = x
		weighed += x
		n := uint32(min(math.Round(x), math.MaxUint32))
		routes, mask := c.There, c.LanesA
		if j.back[l] {
			routes, mask = c.Back, c.LanesB
		}
		routes[j.cable[l]] = n
		c.Most = max(c.Most, n)
		if n == 0 {
			continue
		}
		order = append(order, ethernet.LinkID(l))
		mask[j.cable[l]] = int32(between.Lossless(in.Network, ethernet.LinkID(l)))
		for set := uint16(mask[j.cable[l]]); set != 0; set &= set - 1 {
			p := bits.TrailingZeros16(set)
			if perLane[p] == nil {
				perLane[p] = &result.ReportLane{VL: p}
			}
			u := perLane[p]
			u.Trunks, u.Hops, u.Most = u.Trunks+1, u.Hops+int64(n), max(u.Most, n)
		}
	}
	c.Scale = max(c.Most, uint32(2*weighed/float64(max(1, len(j.load)))))
	for p := range ethernet.MaxPriorities {
		if u := perLane[p]; u != nil {
			u.Pairs = int64(demand)
			t.Lanes = append(t.Lanes, *u)
		}
	}
	slices.SortStableFunc(order, func(a, b ethernet.LinkID) int { return cmp.Compare(j.load[b], j.load[a]) })
	for _, l := range order[:min(len(order), 50)] {
		link := in.Links[l]
		c.Hottest = append(c.Hottest, result.ReportHot{
			Cable: int(j.cable[l]), Back: j.back[l], Routes: uint32(math.Round(j.load[l])), Rate: j.n.Rates[j.n.Cables.Rate[j.cable[l]]],
			Channel: in.Names[link.From] + ", " + link.FromInterface + " → " + in.Names[link.To] + ", " + link.ToInterface,
		})
	}
	j.tiers(t)
	j.hops(t, demand, sum)
}

// slower is how many times more a route over each link counts, [LinkID]: as often as the fastest is faster.
func (j *pageJob) slower() []float64 {
	list := make([]float64, len(j.load))
	fastest := 0.
	for l := range list {
		list[l] = 1
		fastest = max(fastest, j.t.w.Speed(ethernet.LinkID(l)))
	}
	for l := 0; l < len(list) && j.bySpeed; l++ {
		list[l] = fastest / j.t.w.Speed(ethernet.LinkID(l))
	}
	return list
}

// tiers is the loads of links from one level to another.
func (j *pageJob) tiers(t *result.ReportTables) {
	const parts = 10
	level := j.n.Nodes.Level
	at := map[[2]int32]*result.ReportTier{}
	var keys [][2]int32
	for l, link := range j.in.Links {
		key := [2]int32{level[j.node[link.From]], level[j.node[link.To]]}
		n := uint32(math.Round(j.load[l]))
		if at[key] == nil {
			name := fmt.Sprintf("within level %d", key[0])
			if key[0] < key[1] {
				name = fmt.Sprintf("up, level %d to %d", key[0], key[1])
			} else if key[0] > key[1] {
				name = fmt.Sprintf("down, level %d to %d", key[0], key[1])
			}
			at[key] = &result.ReportTier{Name: name, From: int(key[0]), To: int(key[1]), Least: n, Loads: make([]int, parts)}
			keys = append(keys, key)
		}
		u := at[key]
		u.Trunks, u.Least, u.Most, u.Mean = u.Trunks+1, min(u.Least, n), max(u.Most, n), u.Mean+float64(n)
		u.Loads[min(parts-1, int(n)*parts/int(max(1, t.Load.Most)))]++
	}
	slices.SortFunc(keys, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, key := range keys {
		at[key].Mean /= float64(at[key].Trunks)
		t.Tiers = append(t.Tiers, *at[key])
	}
}

// hops counts pairs of adapters by how far their packets go at least.
func (j *pageJob) hops(t *result.ReportTables, demand, sum float64) {
	in := j.in
	at := make([]int64, len(in.Names)) // adapters
	classes := map[int]int64{}
	for _, nic := range j.t.w.NICs {
		at[nic.Device]++
		classes[nic.Class]++
	}
	for class, adapters := range classes {
		for d, distance := range hops.To(in.Network, &in.Classes[class]) {
			if distance >= 0 {
				for int(distance) >= len(t.Hops.Pairs) {
					t.Hops.Pairs = append(t.Hops.Pairs, 0)
				}
				t.Hops.Pairs[distance] += at[d] * adapters
			}
		}
	}
	t.Hops.Most = len(t.Hops.Pairs) - 1
	if demand > 0 {
		t.Hops.Mean = sum / demand
	}
}

// mostWays bounds the sets of next hops of a page: a class and a switch each.
const mostWays = 8 << 20

// ways fills in the next hops of the classes that adapters have.
func (j *pageJob) ways(t *result.ReportTables) {
	if j.t == nil {
		return
	}
	in := j.in
	w := &result.ReportWays{First: []int32{0, 0}}
	index := map[int]int32{}
	for e := j.f.Switches(); e < len(j.f.Endpoints()); e++ {
		class := int32(-1)
		if nic := j.t.nics[e]; nic >= 0 {
			of := j.t.w.NICs[nic].Class
			var known bool
			if class, known = index[of]; !known {
				if class = int32(len(index)); (int(class)+1)*len(in.Names) > mostWays {
					class = -1
				} else {
					index[of] = class
				}
			}
		}
		w.Class = append(w.Class, class)
	}
	w.Set = make([]int32, len(index)*len(in.Names))
	sets := map[string]int32{"": 0}
	for _, of := range slices.SortedFunc(maps.Keys(index), func(a, b int) int { return cmp.Compare(index[a], index[b]) }) {
		class := index[of]
		for d := range ethernet.DeviceID(len(in.Names)) {
			first, _ := in.LinksFrom(d)
			var key []byte
			in.Each(in.Words(in.Classes[of].Next, d), d, func(l ethernet.LinkID) { key = append(key, byte(l-first+1)) })
			w.Set[int(class)*len(in.Names)+int(j.node[d])] = numberOf(w, sets, key)
		}
	}
	t.Ways = w
}

// numberOf is the number of a set of ports, which is added if it is new; sets has those that there are.
func numberOf(w *result.ReportWays, sets map[string]int32, ports []byte) int32 {
	if i, known := sets[string(ports)]; known {
		return i
	}
	i := int32(len(w.First) - 1)
	sets[string(ports)] = i
	for _, p := range ports {
		w.Ports = append(w.Ports, int32(p))
	}
	w.First = append(w.First, int32(len(w.Ports)))
	return i
}

// times is how long random pairs take in each way, for a page.
func (j *pageJob) times(ctx context.Context, o *trafficFlags, seed uint64) (*result.ReportResult, error) {
	if j.t == nil {
		return nil, nil
	}
	jobs, err := j.t.compared(nil, "", seed, 0, 0)
	if err != nil {
		return nil, err
	}
	job := jobs[0].trafficJob
	job.precision = 0.02
	ways, _, err := j.t.hashedWays(ctx, o, &job, nil)
	if err != nil {
		return nil, err
	}
	r := &result.ReportResult{
		Command: "weft compare", Title: "How long traffic takes", Network: 0, Curves: []result.ReportCurves{}, Loop: []result.ReportLoopStep{},
		Facts: []result.ReportFact{{What: "traffic", Text: "a random half of the adapters sends to the other; 1: no flow is in another's way"}},
		Tables: []result.ReportTable{{Title: "Random pairs", Columns: []string{"way", "time", "worst", "bound"}, Rows: list.Of(ways, func(w result.EthernetWay) []string {
			return []string{wayText(&w), timeText(&w), twoPlaces(w.Worst), twoPlaces(w.Bound)}
		})}},
	}
	return r, nil
}

// mostGroups is how many lines a page lists of which devices send to a prefix by which next hops.
const mostGroups = 2000

// nextHops lists, by prefix with hosts, which devices have which neighbors as next hops.
func (j *pageJob) nextHops() *result.ReportResult {
	in := j.in
	table := result.ReportTable{Title: "Next hops by prefix", Columns: []string{"prefix", "devices", "next hops", "width"}, Rows: [][]string{}}
	all := 0
	for i := range in.Classes {
		c := &in.Classes[i]
		if !c.Hosts {
			continue
		}
		groups := map[string][]string{}
		var keys []string
		width := map[string]int{}
		for d := range ethernet.DeviceID(len(in.Names)) {
			var hops []string
			count := 0
			in.Each(in.Words(c.Next, d), d, func(l ethernet.LinkID) {
				count++
				if to := in.Names[in.Links[l].To]; !slices.Contains(hops, to) {
					hops = append(hops, to)
				}
			})
			key := words.FirstOf(hops)
			if count == 0 {
				if key = "none"; c.Leaves(d) {
					key = "to hosts"
				}
			}
			if groups[key] == nil {
				keys = append(keys, key)
			}
			groups[key] = append(groups[key], in.Names[d])
			width[key] = count
		}
		for _, key := range keys {
			if all++; all <= mostGroups {
				table.Rows = append(table.Rows, []string{c.Prefix().String(), words.FirstOf(groups[key]), key, fmt.Sprint(width[key])})
			}
		}
	}
	r := &result.ReportResult{Command: "weft report", Title: "ECMP", Network: 0, Curves: []result.ReportCurves{}, Loop: []result.ReportLoopStep{}, Facts: []result.ReportFact{}, Tables: []result.ReportTable{table}}
	if all > mostGroups {
		r.Facts = append(r.Facts, result.ReportFact{What: "left out", Text: fmt.Sprintf("%s of %s lines; weft explain --to PREFIX has those of each prefix", words.Thousands(all-mostGroups), words.Thousands(all))})
	}
	return r
}

// Page is the page of a network that weft watch saw.
func Page(ctx context.Context, n *ethernet.Network, when time.Time) ([]byte, error) {
	o := &trafficFlags{qps: []uint{1, 4, 16}}
	in := &networkInput{Network: n, routes: "as read", again: "FOLDER"}
	j, err := newPage(ctx, in, "the network of "+when.UTC().Format("2006-01-02 15:04:05 MST"), o, true)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	d := &result.Report{Title: "Live network", Made: "weft " + version.Current().Version, Networks: []*result.ReportNetwork{j.n}, Results: []*result.ReportResult{j.nextHops()}}
	if err := page.Write(&b, d); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
