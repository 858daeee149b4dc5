package check

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// checkVersions compares the OpenSM that the plugin was built for with the one that
// runs.
func (r *Report) checkVersions(in *Input) {
	if !slices.Contains(r.Engines, PluginName) && !hasPlugin(in.Conf) {
		return
	}
	line := in.Conf.Line("event_plugin_name")
	switch {
	case in.Plugin != "" && in.OpenSM != "" && in.Plugin != in.OpenSM:
		r.add(Finding{Level: Danger, Code: Version, What: fmt.Sprintf("the plugin was built for %s, and %s runs: it refuses to load, and OpenSM goes on without it", in.Plugin, in.OpenSM),
			Do: "build the plugin against the headers of the OpenSM that runs (make plugin)", Line: line})
	case in.Plugin == "" || in.OpenSM == "":
		r.add(Finding{Level: Advice, Code: Version, What: "the versions of the plugin and of OpenSM were not compared", Do: "give both, with --plugin and --opensm", Line: line})
	}
}

// checkRefusals asks weft's engines of the same name whether they would accept the fabric,
// and checks whether OpenSM's updn would find roots.
func (r *Report) checkRefusals(in *Input) {
	f := in.Fabric
	if f == nil {
		return
	}
	line := in.Conf.Line("routing_engine")
	for _, name := range r.Engines {
		r.checkRules(f, name, line)
		if _, given := in.Conf.Get("root_guid_file"); name == "updn" && !given && f.Trunks() > 0 && len(SeenRoots(f)) == 0 {
			r.add(Finding{Level: Danger, Code: Refusal, What: "OpenSM's updn is about to refuse: no switch sees more than nine tenths of the adapters at one distance and the others at hardly any, which is how it finds roots",
				Do: "name roots (weft deploy files writes a root-guids file), and have the tables judged: with roots, too, updn can make a credit loop (weft verify)", Lines: []string{"root_guid_file /etc/opensm/root-guids"}, Line: line})
		}
	}
}

// ofOpenSM is weft's engine of the same kind as one of OpenSM's, by its name.
func ofOpenSM(name string) (engines.Engine, bool) {
	for _, e := range engines.All() {
		if name != "" && e.OpenSM == name {
			return e, true
		}
	}
	return engines.Engine{}, false
}

// checkRules says which rules of an engine the fabric breaks.
func (r *Report) checkRules(f *fabric.Fabric, name string, line int) {
	e, ok := ofOpenSM(name)
	if !ok {
		return // weft has none of the kind
	}
	for _, finding := range e.Explain(f, engines.Options{}) {
		if finding.OK {
			continue
		}
		r.add(Finding{Level: Danger, Code: Refusal, What: fmt.Sprintf("%s is about to refuse: %s (rule: %s)", name, finding.Why, finding.Rule), Do: "repair the fabric, or take tables that are proven for it as it is (weft route says how OpenSM takes them)", Line: line})
	}
}

// SeenRoots is the switches that OpenSM's updn takes for roots when none are named:
// those that see more than 0.9 of all adapter ports at one distance, and no more than
// 0.05 at any other. O(S·(S + C)).
func SeenRoots(f *fabric.Fabric) []fabric.NodeID {
	ports := routing.Adapters.PerSwitch(f) // [switch] adapter ports on it
	all := len(routing.Adapters.Endpoints(f))
	var roots []fabric.NodeID
	at := make([]int, f.Switches()) // [distance] adapter ports
	for s := range fabric.NodeID(f.Switches()) {
		clear(at)
		for u, hops := range f.Hops(s) {
			if hops >= 0 {
				at[hops] += int(ports[u])
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
