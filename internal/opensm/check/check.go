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
	r.fallback(&in)
	if err := r.tables(ctx, &in); err != nil {
		return nil, err
	}
	if err := r.minHops(ctx, &in); err != nil {
		return nil, err
	}
	if err := r.need(ctx, &in); err != nil {
		return nil, err
	}
	r.qos(&in)
	r.lanes(&in)
	r.versions(&in)
	r.plugin(&in)
	r.clients(&in)
	r.refusals(&in)
	for _, n := range in.Conf.Cut {
		r.add(Finding{Warning, Odd, "the line is longer than OpenSM reads at a time: the rest is taken for another option", "shorten it", nil, n})
	}
	r.unknown(in.Conf)
	r.others(&in)
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

// fallback finds configurations under which tables come from another engine than
// intended.
func (r *Report) fallback(in *Input) {
	c, line, known := in.Conf, in.Conf.Line("routing_engine"), r.Family.Engines()
	if len(r.Engines) == 0 {
		r.add(Finding{Danger, SilentFallback, "no routing engine is named, so that OpenSM routes by MinHop, which can deadlock where cables form a ring",
			"name an engine", []string{"event_plugin_name " + PluginName, "routing_engine " + PluginName + ",no_fallback"}, line})
	}
	for _, e := range r.Engines {
		switch {
		case e == PluginName && !hasPlugin(c):
			r.add(Finding{Danger, SilentFallback, "routing_engine names weft, but no plugin of that name is loaded: OpenSM skips the name",
				"load the plugin", []string{"event_plugin_name " + PluginName}, line})
		case e == PluginName || slices.Contains(known, e):
		case strings.EqualFold(e, "no_fallback"):
			r.add(Finding{Danger, SilentFallback, fmt.Sprintf("%q is not no_fallback: OpenSM skips it as an engine that it does not know", e), "write no_fallback", nil, line})
		default:
			r.add(Finding{Danger, SilentFallback, fmt.Sprintf("%s knows no engine %q and skips the name", name(r.Family), e),
				engineHint(e, r.Family), nil, line})
		}
	}
	if slices.Contains(r.Engines, "file") {
		if _, ok := c.Get("lfts_file"); !ok {
			r.add(Finding{Danger, SilentFallback, "routing_engine file without lfts_file has nothing to load", "set lfts_file", nil, line})
		}
	}
	tried := slices.DeleteFunc(slices.Clone(r.Engines), func(e string) bool {
		return !slices.Contains(known, e) && (e != PluginName || !hasPlugin(c))
	})
	if i := slices.IndexFunc(tried, isMinHop); i >= 0 && in.Tables == nil {
		r.add(Finding{Danger, SilentFallback, fmt.Sprintf("%s, which is asked for, is MinHop: it can deadlock where cables form a ring, a tree with a broken cable among them", tried[i]),
			"name an engine that cannot, or have its tables judged, after every change (--fabric and --tables; weft watch)", nil, line})
	}
	if len(tried) > 0 && !isMinHop(tried[len(tried)-1]) && !r.NoFallback {
		r.add(Finding{Danger, SilentFallback, fmt.Sprintf("when %s, OpenSM routes by MinHop and says so in one INFO line", fail(tried)),
			"with no_fallback it keeps the tables there are", []string{"routing_engine " + strings.Join(tried, ",") + ",no_fallback"}, line})
	}
	if len(tried) > 1 && !slices.Contains(tried[1:], PluginName) {
		r.add(Finding{Warning, SilentFallback, fmt.Sprintf("when %s fails, OpenSM goes on to its own %s, whose tables nobody proves: even those of updn can have a credit loop (seen on Dragonflies)",
			tried[0], strings.Join(tried[1:], " and ")),
			"keep the tables there are instead", []string{"routing_engine " + tried[0] + ",no_fallback"}, line})
	}
	if c.Bool("use_ucast_cache", false) {
		r.add(Finding{Warning, SilentFallback, "use_ucast_cache lets OpenSM skip the engine after a change in the fabric: the tables are then old ones with holes, and nobody proved them",
			"turn it off", []string{"use_ucast_cache FALSE"}, c.Line("use_ucast_cache")})
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

// unknown names the options that OpenSM skips.
func (r *Report) unknown(c *conf.Conf) {
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
			r.add(Finding{Danger, SilentFallback, fmt.Sprintf("%s is no option of its own, and OpenSM skips the line", o.Key), "no_fallback is a word of routing_engine",
				[]string{"routing_engine " + strings.Join(append(slices.Clone(r.Engines), "no_fallback"), ",")}, o.Line})
			continue
		}
		do := "take the line out; none of its options is like that (opensm -c FILE writes them all)"
		if r.Family == conf.NVIDIA {
			do = "it may be of another release: opensm -c FILE writes all that yours has"
		}
		if near := conf.Nearest(o.Key); near != "" {
			do = "the nearest it knows is " + near
		}
		r.add(Finding{Warning, Odd, fmt.Sprintf("%s knows no option %q and skips it", opensm, o.Key), do, nil, o.Line})
	}
	if rest > 0 {
		r.add(Finding{Warning, Odd, fmt.Sprintf("%d more lines have options that %s does not know", rest, opensm), "if another subnet manager runs, ask its manual: what is said here is about OpenSM", nil, 0})
	}
}
