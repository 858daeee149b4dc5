package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/routing"
)

// socketBytes is the room for a path in a socket's address (sun_path), with the zero
// at its end.
const socketBytes = 108

// pluginOptions is what the plugin takes from event_plugin_options, and what is wrong
// with a value. It reads them in plugin/options.c.
var pluginOptions = []struct {
	name  string
	check func(value string) error
}{
	{"weft.socket", func(value string) error {
		if !strings.HasPrefix(value, "/") || len(value) >= socketBytes {
			return fmt.Errorf("it is an absolute path of less than %d letters", socketBytes)
		}
		return nil
	}},
	{"weft.deadline", oneHour},
	{"weft.wait", oneHour},
	{"weft.owner", func(value string) error {
		if value == "" {
			return errors.New("it is a user, by name or number")
		}
		return nil // who else is known where OpenSM runs
	}},
	{"weft.contract", func(value string) error { _, err := routing.ParseContract(value); return err }},
	{"weft.scope", func(value string) error { _, err := routing.ParseScope(value); return err }},
	{"weft.drops", func(value string) error {
		if value != "allowed" && value != "never" {
			return errors.New("it is allowed or never")
		}
		return nil
	}},
}

// oneHour is an error unless a value is a number of seconds up to an hour.
func oneHour(value string) error {
	if s, err := strconv.Atoi(value); err != nil || s < 1 || s > 3600 {
		return errors.New("it is a number of seconds from 1 to 3600, without a unit")
	}
	return nil
}

// pluginOptionNames is the names of pluginOptions, in their order.
func pluginOptionNames() []string {
	names := make([]string, len(pluginOptions))
	for i := range pluginOptions {
		names[i] = pluginOptions[i].name
	}
	return names
}

// hasPlugin reports whether the configuration loads weft's plugin.
func hasPlugin(c *conf.Conf) bool {
	v, _ := c.Get("event_plugin_name")
	return slices.Contains(words(v), PluginName)
}

// words is the words of an option of OpenSM's about plugins.
func words(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t,", r) })
}

// checkPlugin adds findings about the options of weft's plugin, which does not load where one of them
// is wrong, and says so in OpenSM's log only.
func (r *Report) checkPlugin(in *Input) {
	if !hasPlugin(in.Conf) {
		return
	}
	if !slices.Contains(r.Engines, PluginName) {
		r.add(Finding{Level: Warning, Code: PluginOption, What: "the plugin is loaded, and routing_engine does not name it: it is never asked for tables", Do: "name it first",
			Lines: []string{"routing_engine " + PluginName + ",no_fallback"}, Line: in.Conf.Line("event_plugin_name")})
	}
	line := in.Conf.Line("event_plugin_options")
	plugins, _ := in.Conf.Get("event_plugin_name")
	alone := len(words(plugins)) == 1
	for _, word := range given(in.Conf) {
		name, value, assigned := strings.Cut(word, "=")
		i := slices.Index(pluginOptionNames(), name)
		near := spell.Nearest(name, pluginOptionNames())
		if whole := PluginName + "." + name; alone && slices.Contains(pluginOptionNames(), whole) {
			near = whole
		}
		switch {
		case i < 0 && strings.HasPrefix(name, PluginName+"."):
			f := Finding{Level: Danger, Code: PluginOption, What: fmt.Sprintf("the plugin has no option %s, and does not load", name), Do: "its options are " + strings.Join(pluginOptionNames(), ", "), Line: line}
			if near != "" {
				f.Do = "the nearest it knows is " + near
			}
			r.add(f)
		case i < 0 && near == "": // of another plugin
		case i < 0:
			r.add(Finding{Level: Warning, Code: PluginOption, What: fmt.Sprintf("%s does not begin with weft., so that the plugin takes it for another plugin's and passes over it", name),
				Do: "the nearest it knows is " + near, Line: line})
		case !assigned:
			r.add(Finding{Level: Danger, Code: PluginOption, What: fmt.Sprintf("%s has no value, and the plugin does not load", name), Do: fmt.Sprintf("write %s=VALUE, without blanks", name), Line: line})
		default:
			if err := pluginOptions[i].check(value); err != nil {
				r.add(Finding{Level: Danger, Code: PluginOption, What: fmt.Sprintf("%s=%s is wrong, and the plugin does not load", name, value), Do: err.Error(), Line: line})
			}
		}
	}
	r.checkTerms(in, line)
	if n, ok := in.Conf.Int("packet_life_time"); ok && n >= endless {
		r.add(Finding{Level: Warning, Code: PluginOption, What: fmt.Sprintf("packet_life_time %#x: switches keep packets for ever, so that nothing bounds how long those of earlier tables are about: "+
			"between two steps of a change weft waits as if each switch dropped them after 1.07 s", n), Do: "set OpenSM's default", Lines: []string{"packet_life_time 0x12"}, Line: in.Conf.Line("packet_life_time")})
	}
}

// endless is the least packet_life_time that has no end (IBA 14.2.5.4).
const endless = 20

// given is the words of event_plugin_options.
func given(c *conf.Conf) []string {
	v, _ := c.Get("event_plugin_options")
	return words(v)
}

// option is the value of an option of the plugin's, the last where it is set twice.
func option(c *conf.Conf, name string) (value string, set bool) {
	for _, word := range given(c) {
		if v, ok := strings.CutPrefix(word, name+"="); ok {
			value, set = v, true
		}
	}
	return value, set
}

// withOption is the line of event_plugin_options with one of them set.
func withOption(c *conf.Conf, name, value string) string {
	kept := slices.DeleteFunc(given(c), func(word string) bool { return strings.HasPrefix(word, name+"=") })
	return "event_plugin_options " + strings.Join(append(kept, name+"="+value), ",")
}

// pluginContract is what the plugin demands of a proof: honored unless told.
func pluginContract(c *conf.Conf) routing.Contract {
	if text, ok := option(c, "weft.contract"); ok {
		if k, err := routing.ParseContract(text); err == nil {
			return k
		}
	}
	return routing.Honored
}

// checkTerms adds findings where what the plugin demands of a proof (contract honored and scope hca, if not set) is not what
// clients do, or does not go with the tables that run. line is that of event_plugin_options.
func (r *Report) checkTerms(in *Input, line int) {
	wanted, scope := pluginContract(in.Conf), routing.HCA
	_, explicit := option(in.Conf, "weft.contract")
	if text, ok := option(in.Conf, "weft.scope"); ok {
		if s, err := routing.ParseScope(text); err == nil {
			scope = s
		}
	}
	known := r.free != nil && (in.SLs || !byRecord(wanted)) // how the tables fare under wanted
	switch {
	case known && !r.free(wanted):
		r.add(Finding{Level: Warning, Code: PluginOption, What: fmt.Sprintf("the plugin demands a proof for contract %s, and the tables that run have a credit loop under it: it would refuse them", wanted),
			Do: "set contract in weft.yaml to what the plugin demands, and look in OpenSM's log which engine routed", Line: line})
	case in.Contract != nil && !wanted.Covers(*in.Contract):
		level := Warning
		if !explicit {
			level = Advice // the daemon's own configuration may say it
		}
		r.add(Finding{Level: level, Code: PluginOption, What: fmt.Sprintf("clients do as contract %s says, and the plugin takes tables that are proven for contract %s only", *in.Contract, wanted),
			Do: "have it refuse them, whatever weft.yaml says", Lines: []string{withOption(in.Conf, "weft.contract", in.Contract.String())}, Line: line})
	case wanted == routing.Directed && in.Contract == nil && r.free != nil && in.SLs && r.free(routing.Honored):
		r.add(Finding{Level: Warning, Code: PluginOption, What: "weft.contract=directed is weaker than what the tables that run hold under: other tables could have a credit loop where one side of a connection answers on the other's service level",
			Do: "take it out: without it the plugin demands contract honored", Line: line})
	case wanted == routing.Directed && in.Contract == nil:
		r.add(Finding{Level: Warning, Code: PluginOption, What: "weft.contract=directed lets the plugin take tables that have a credit loop where one side of a connection answers on the other's service level, as a passive side of RDMA-CM does",
			Do: "take it out, and set contract in weft.yaml to what clients do", Line: line})
	}
	if scope < in.Scope {
		r.add(Finding{Level: Warning, Code: PluginOption, What: fmt.Sprintf("endpoints are %s, and the plugin takes tables that are proven for %s only", in.Scope, scope),
			Do: "have it refuse them, whatever weft.yaml says", Lines: []string{withOption(in.Conf, "weft.scope", in.Scope.String())}, Line: line})
	}
}
