package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/routing"
)

// Input is what Run examines. Only Conf is needed.
type Input struct {
	Conf   *conf.Conf
	Fabric *fabric.Fabric  // nil: not known
	Tables *routing.Tables // as dumped; nil: not known
	SLs    bool            // the service levels in Tables are those of PathRecords; otherwise they are SL 0 because none are known

	Contract *routing.Contract // what clients do; nil: not stated
	Scope    routing.Scope
	VLs      int // data lanes of the hardware, VLCap; 0: routing.DefaultVLs

	Plugin string // version of OpenSM that the plugin was built for, "OpenSM 3.3.23"; empty: not known
	OpenSM string // version of the OpenSM that runs; empty: not known
}

// PluginName is the word in event_plugin_name that loads weft's plugin, and the
// name of the engine that it registers.
const PluginName = "weft"

// Run examines everything. The error is that of the judge, or of a cancelled context; a
// problem in the configuration is a finding.
func Run(ctx context.Context, in Input) (*Report, error) {
	if in.VLs == 0 {
		in.VLs = routing.DefaultVLs
	}
	r := &Report{QoS: in.Conf.Bool("qos", false), Family: family(&in)}
	r.Engines, r.NoFallback = in.Conf.Engines()
	r.checkFallback(&in)
	if err := r.judgeTables(ctx, &in); err != nil {
		return nil, err
	}
	if err := r.checkMinHop(ctx, &in); err != nil {
		return nil, err
	}
	if err := r.estimateLanes(ctx, &in); err != nil {
		return nil, err
	}
	r.checkQoS(&in)
	r.checkLanes(&in)
	r.checkVersions(&in)
	r.checkPlugin(&in)
	r.checkClients(&in)
	r.checkRefusals(&in)
	for _, n := range in.Conf.Cut {
		r.add(Finding{Level: Warning, Code: Odd, What: "the line is longer than OpenSM reads at a time: the rest is taken for another option", Do: "shorten it", Line: n})
	}
	r.checkUnknown(in.Conf)
	r.checkFamily(&in)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)), cmp.Compare(slices.Index(order, a.Code), slices.Index(order, b.Code)))
	})
	return r, ctx.Err()
}

// engineHint is what to write in place of an engine that a family does not know.
func engineHint(engine string, family conf.Family) string {
	known, loads := family.Engines(), ", and weft with the plugin"
	if family == conf.NVIDIA { // whose OpenSM does not load it
		loads = ""
	}
	text := "engines are " + strings.Join(known, ", ") + loads
	if near := spell.Nearest(engine, known); near != "" {
		return fmt.Sprintf("nearest is %s; %s", near, text)
	}
	for _, other := range []conf.Family{conf.Upstream, conf.NVIDIA} {
		if near := spell.Nearest(engine, other.Engines()); other != family && near != "" {
			return fmt.Sprintf("nearest is %s, of %s; %s", near, name(other), text)
		}
	}
	return text
}

// checkFallback finds configurations under which tables come from another engine than
// intended.
func (r *Report) checkFallback(in *Input) {
	c, line, known := in.Conf, in.Conf.Line("routing_engine"), r.Family.Engines()
	if len(r.Engines) == 0 {
		r.add(Finding{Level: Danger, Code: SilentFallback, What: "no routing engine is named, so that OpenSM routes by MinHop, which can deadlock where cables form a ring",
			Do: "name an engine", Lines: []string{"event_plugin_name " + PluginName, "routing_engine " + PluginName + ",no_fallback"}, Line: line})
	}
	for _, e := range r.Engines {
		switch {
		case e == PluginName && !hasPlugin(c):
			r.add(Finding{Level: Danger, Code: SilentFallback, What: "routing_engine names weft, but no plugin of that name is loaded: OpenSM skips the name",
				Do: "load the plugin", Lines: []string{"event_plugin_name " + PluginName}, Line: line})
		case e == PluginName || slices.Contains(known, e):
		case strings.EqualFold(e, "no_fallback"):
			r.add(Finding{Level: Danger, Code: SilentFallback, What: fmt.Sprintf("%q is not no_fallback: OpenSM skips it as an engine that it does not know", e), Do: "write no_fallback", Line: line})
		default:
			r.add(Finding{Level: Danger, Code: SilentFallback, What: fmt.Sprintf("%s knows no engine %q and skips the name", name(r.Family), e),
				Do: engineHint(e, r.Family), Line: line})
		}
	}
	if slices.Contains(r.Engines, "file") {
		if _, ok := c.Get("lfts_file"); !ok {
			r.add(Finding{Level: Danger, Code: SilentFallback, What: "routing_engine file without lfts_file has nothing to load", Do: "set lfts_file", Line: line})
		}
	}
	tried := slices.DeleteFunc(slices.Clone(r.Engines), func(e string) bool {
		return !slices.Contains(known, e) && (e != PluginName || !hasPlugin(c))
	})
	if i := slices.IndexFunc(tried, isMinHop); i >= 0 && in.Tables == nil {
		r.add(Finding{Level: Danger, Code: SilentFallback, What: fmt.Sprintf("%s, which is asked for, is MinHop: it can deadlock where cables form a ring, a tree with a broken cable among them", tried[i]),
			Do: "name an engine that cannot, or have its tables judged, after every change (--fabric and --tables; weft watch)", Line: line})
	}
	if len(tried) > 0 && !isMinHop(tried[len(tried)-1]) && !r.NoFallback {
		r.add(Finding{Level: Danger, Code: SilentFallback, What: fmt.Sprintf("when %s, OpenSM routes by MinHop and says so in one INFO line", fail(tried)),
			Do: "with no_fallback it keeps the tables there are", Lines: []string{"routing_engine " + strings.Join(tried, ",") + ",no_fallback"}, Line: line})
	}
	if len(tried) > 1 && !slices.Contains(tried[1:], PluginName) {
		r.add(Finding{Level: Warning, Code: SilentFallback, What: fmt.Sprintf("when %s fails, OpenSM goes on to its own %s, whose tables nobody proves: even those of updn can have a credit loop (seen on Dragonflies)",
			tried[0], strings.Join(tried[1:], " and ")),
			Do: "keep the tables there are instead", Lines: []string{"routing_engine " + tried[0] + ",no_fallback"}, Line: line})
	}
	if c.Bool("use_ucast_cache", false) {
		r.add(Finding{Level: Warning, Code: SilentFallback, What: "use_ucast_cache lets OpenSM skip the engine after a change in the fabric: the tables are then old ones with holes, and nobody proved them",
			Do: "turn it off", Lines: []string{"use_ucast_cache FALSE"}, Line: c.Line("use_ucast_cache")})
	}
}

// fail is "A fails", "A and B fail".
func fail(engines []string) string {
	if len(engines) == 1 {
		return engines[0] + " fails"
	}
	last := len(engines) - 1
	return strings.Join(engines[:last], ", ") + " and " + engines[last] + " fail"
}

// maxUnknown is how many options that OpenSM does not know are named one by one.
const maxUnknown = 8

// checkUnknown names the options that OpenSM skips.
func (r *Report) checkUnknown(c *conf.Conf) {
	named, rest, opensm := map[string]bool{}, 0, name(r.Family)
	for _, o := range c.Options {
		switch {
		case r.Family.Of(o.Key) || named[o.Key] || slices.Contains(c.Cut, o.Line):
			continue
		case len(named) == maxUnknown:
			rest++
			continue
		}
		named[o.Key] = true
		if spell.Nearest(o.Key, []string{"no_fallback"}) != "" {
			r.add(Finding{Level: Danger, Code: SilentFallback, What: fmt.Sprintf("%s is no option of its own, and OpenSM skips the line", o.Key), Do: "no_fallback is a word of routing_engine",
				Lines: []string{"routing_engine " + strings.Join(append(slices.Clone(r.Engines), "no_fallback"), ",")}, Line: o.Line})
			continue
		}
		do := "take the line out; none of its options is like that (opensm -c FILE writes them all)"
		if r.Family == conf.NVIDIA {
			do = "it may be of another release: opensm -c FILE writes all that yours has"
		}
		if near := conf.Nearest(o.Key); near != "" {
			do = "the nearest it knows is " + near
		}
		r.add(Finding{Level: Warning, Code: Odd, What: fmt.Sprintf("%s knows no option %q and skips it", opensm, o.Key), Do: do, Line: o.Line})
	}
	if rest > 0 {
		r.add(Finding{Level: Warning, Code: Odd, What: fmt.Sprintf("%d more lines have options that %s does not know", rest, opensm), Do: "if another subnet manager runs, ask its manual: what is said here is about OpenSM"})
	}
}
