package check

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/engines"
)

// versions compares the OpenSM that the plugin was built for with the one that
// runs.
func (r *Report) versions(in *Input) {
	if !slices.Contains(r.Engines, PluginName) && !hasPlugin(in.Conf) {
		return
	}
	line := in.Conf.Line("event_plugin_name")
	switch {
	case in.Plugin != "" && in.OpenSM != "" && in.Plugin != in.OpenSM:
		r.add(Finding{Danger, Version, fmt.Sprintf("the plugin was built for %s, and %s runs: it refuses to load, and OpenSM goes on without it", in.Plugin, in.OpenSM),
			"build the plugin against the headers of the OpenSM that runs (make plugin)", nil, line})
	case in.Plugin == "" || in.OpenSM == "":
		r.add(Finding{Advice, Version, "the versions of the plugin and of OpenSM were not compared", "give both, with --plugin and --opensm", nil, line})
	}
}

// refusals asks weft's engines of the same name whether they would accept the fabric,
// and checks whether OpenSM's updn would find roots.
func (r *Report) refusals(in *Input) {
	f := in.Fabric
	if f == nil {
		return
	}
	line := in.Conf.Line("routing_engine")
	for _, name := range r.Engines {
		r.rules(f, name, line)
		if _, given := in.Conf.Get("root_guid_file"); name == "updn" && !given && f.Trunks() > 0 && len(SeenRoots(f)) == 0 {
			r.add(Finding{Danger, Refusal, "OpenSM's updn is about to refuse: no switch sees more than nine tenths of the adapters at one distance and the others at hardly any, which is how it finds roots",
				"name roots (weft deploy files writes a root-guids file), and have the tables judged: with roots, too, updn can make a credit loop (weft verify)", []string{"root_guid_file /etc/opensm/root-guids"}, line})
		}
	}
}

// rules says which rules of an engine the fabric breaks.
func (r *Report) rules(f *fabric.Fabric, name string, line int) {
	e, ok := engines.OfOpenSM(name)
	if !ok {
		return // weft has none of the kind
	}
	for _, finding := range e.Explain(f, engines.Options{}) {
		if finding.OK {
			continue
		}
		r.add(Finding{Danger, Refusal, fmt.Sprintf("%s is about to refuse: %s (rule: %s)", name, finding.Why, finding.Rule), "repair the fabric, or take tables that are proven for it as it is (weft route says how OpenSM takes them)", nil, line})
	}
}

// SeenRoots is the switches that OpenSM's updn takes for roots when none are named:
// those that see more than 0.9 of all adapter ports at one distance, and no more than
// 0.05 at any other. O(S·(S + C)).
func SeenRoots(f *fabric.Fabric) []fabric.NodeID {
	ports := make([]int, f.Switches()) // [switch] adapter ports on it
	all := 0
	for s := range fabric.NodeID(f.Switches()) {
		for _, e := range f.Attached(s) {
			if f.Endpoint(e).Class != fabric.SwitchPort {
				ports[s]++
				all++
			}
		}
	}
	var roots []fabric.NodeID
	hops := make([]int, f.Switches())
	for s := range fabric.NodeID(f.Switches()) {
		for i := range hops {
			hops[i] = -1
		}
		hops[s] = 0
		queue := []fabric.NodeID{s}
		var at []int // [distance] adapter ports
		for i := 0; i < len(queue); i++ {
			u := queue[i]
			for len(at) <= hops[u] {
				at = append(at, 0)
			}
			at[hops[u]] += ports[u]
			first, end := f.TrunksFrom(u)
			for _, v := range f.Heads()[first:end] {
				if hops[v] < 0 {
					hops[v] = hops[u] + 1
					queue = append(queue, v)
				}
			}
		}
		most, some := 0, 0
		for _, n := range at {
			if 10*n > 9*all {
				most++
			}
			if 20*n > all {
				some++
			}
		}
		if most == 1 && some == 1 {
			roots = append(roots, s)
		}
	}
	return roots
}
