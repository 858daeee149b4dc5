package check

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

func configuration(t *testing.T, text string) *conf.Conf {
	t.Helper()
	c, err := conf.Read(strings.NewReader(text), "opensm.conf")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tables(t *testing.T, f *fabric.Fabric, engine string) *routing.Tables {
	t.Helper()
	return routed.Of(t, f, engine, routing.Budget{VLs: 8, Scope: routing.Adapters})
}

// What is advised for engines that let switches choose is a command that weft takes: the whole folder of ibdiagnet.
func TestGroupsAreJudgedWithTheirFolder(t *testing.T) {
	r, err := Run(t.Context(), Input{Conf: configuration(t, "routing_engine ar_updn,no_fallback\nar_mode 1\n")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Do, "-o DIR, then weft verify DIR") }) {
		t.Errorf("%+v", r.Findings)
	}
}

// has reports whether a report has a finding of a kind and level with these words.
func has(r *Report, level Level, code Code, words string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Level == level && f.Code == code && strings.Contains(f.What, words)
	})
}

const plugin = "event_plugin_name other,weft\nrouting_engine weft,no_fallback\n"

// Every danger by itself: what there is to look at, and what must be said.
func TestFindings(t *testing.T) {
	ring, tree, torus := testnet.Build(t, "ring:7,hosts=2"), testnet.Build(t, "karytree:k=3,n=2"), testnet.Build(t, "torus:4x4,hosts=2")
	single := routing.Single(2)
	for _, c := range []struct {
		name  string
		in    Input
		text  string
		level Level
		code  Code
		words string
	}{
		{"nothing", Input{}, "", Danger, SilentFallback, "no routing engine"},
		{"null", Input{}, "routing_engine (null)\n", Danger, SilentFallback, "no routing engine"},
		{"no fallback", Input{}, "routing_engine ftree\n", Danger, SilentFallback, "when ftree fails"},
		{"minhop itself", Input{}, "routing_engine minhop,no_fallback\n", Danger, SilentFallback, "minhop, which is asked for, is MinHop"},
		{"tables of MinHop", Input{Fabric: torus, Tables: tables(t, torus, "minhop")}, "routing_engine dfsssp,no_fallback\n", Danger, SilentFallback, "are MinHop's (100 % of their entries), and the configuration asks for dfsssp"},
		{"tables of MinHop for the plugin", Input{Fabric: tree, Tables: tables(t, tree, "minhop")}, plugin, Danger, SilentFallback, "asks for weft"},
		{"NVIDIA's", Input{}, "routing_engine ar_updn,no_fallback\nar_mode 1\n", Advice, OtherManager, "NVIDIA's OpenSM (5.x), of MLNX_OFED, DOCA or UFM; what only that reads is not looked at: ar_mode"},
		{"NVIDIA's, by its options", Input{}, "routing_engine updn,no_fallback\nar_mode 1\nshield_mode 1\nhm_num_traps 1\nvirt_enabled 2\nnvl_hbf_seed 3\n", Advice, OtherManager, "ar_mode, shield_mode, hm_num_traps, virt_enabled and 1 more"},
		{"switches choose", Input{}, "routing_engine ar_ftree,no_fallback\n", Advice, OtherManager, "ar_ftree lets switches choose"},
		{"plugin in NVIDIA's", Input{}, plugin + "ar_mode 1\nshield_mode 1\n", Warning, OtherManager, "untested with NVIDIA's"},
		{"fallback in NVIDIA's", Input{}, "routing_engine ar_updn\n", Danger, SilentFallback, "when ar_updn fails"},
		{"no engine of NVIDIA's", Input{}, "routing_engine ar_updn,nue,no_fallback\n", Danger, SilentFallback, "NVIDIA's OpenSM (5.x) knows no engine \"nue\""},
		{"a typo in NVIDIA's", Input{}, "routing_engine ar_updn,no_fallback\nqoz_mode 1\n", Warning, Odd, "NVIDIA's OpenSM (5.x) knows no option \"qoz_mode\""},
		{"NVIDIA's file for 3.3", Input{OpenSM: "OpenSM 3.3.23"}, "routing_engine ar_updn,no_fallback\n", Danger, SilentFallback, "OpenSM knows no engine \"ar_updn\""},
		{"own engine next", Input{}, plugin + "routing_engine weft,updn,no_fallback\n", Warning, SilentFallback, "goes on to its own updn"},
		{"case of a name", Input{}, "routing_engine Torus-2QoS,no_fallback\n", Danger, SilentFallback, `no engine "Torus-2QoS"`},
		{"no plugin", Input{}, "routing_engine weft,no_fallback\n", Danger, SilentFallback, "no plugin of that name"},
		{"no file", Input{}, "routing_engine file,no_fallback\n", Danger, SilentFallback, "nothing to load"},
		{"cache", Input{}, plugin + "use_ucast_cache TRUE\n", Warning, SilentFallback, "use_ucast_cache"},
		{"QoS off, dfsssp", Input{}, "routing_engine dfsssp,no_fallback\n", Danger, QoSOff, "dfsssp reports success"},
		{"QoS off, nue", Input{}, "routing_engine nue,no_fallback\nnue_max_num_vls 0\n", Danger, QoSOff, "nue reports success"},
		{"QoS off, policy", Input{}, "routing_engine file,no_fallback\nlfts_file /x\nqos_policy_file /y\n", Danger, QoSOff, "no service level is set"},
		{"QoS off, weft", Input{}, plugin, Warning, QoSOff, "one lane only"},
		{"QoS off, tables", Input{Fabric: ring, Tables: tables(t, ring, "dfsssp"), SLs: true, Contract: &routing.Directed}, plugin, Danger, QoSOff, "need"},
		{"QoS true", Input{}, plugin + "qos true\n", Danger, QoSOff, `"true" for FALSE`},
		{"a lane", Input{}, "routing_engine lash,no_fallback\nqos TRUE\nmax_op_vls 1\n", Danger, FewLanes, "one lane"},
		{"hardware", Input{Fabric: ring, VLs: 1}, "routing_engine lash,no_fallback\nqos TRUE\n", Danger, FewLanes, "need 2 lanes, the ports will have 1"},
		{"code", Input{}, plugin + "max_op_vls 8\n", Danger, FewLanes, "max_op_vls 8 is no code"},
		{"code in words", Input{}, plugin + "max_op_vls many\n", Danger, FewLanes, "no code"},
		{"max_vls", Input{Fabric: ring}, "routing_engine dfsssp,no_fallback\nqos TRUE\nqos_swe_max_vls 1\n", Danger, FewLanes, "qos_swe_max_vls is 1"},
		{"no lane", Input{}, plugin + "qos TRUE\nqos_sl2vl 0,1,x\n", Danger, FewLanes, `"x" is no lane`},
		{"short map", Input{}, plugin + "qos TRUE\nqos_sl2vl 0,1,2\n", Warning, FewLanes, "3 lanes for 16"},
		{"folded", Input{Fabric: ring}, "routing_engine dfsssp,no_fallback\nqos TRUE\nmax_op_vls 2\nqos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15\n", Warning, FewLanes, "SL 2, 3, 6,"},
		{"versions", Input{Plugin: "OpenSM 3.3.23", OpenSM: "OpenSM 3.3.24"}, plugin, Danger, Version, "built for OpenSM 3.3.23"},
		{"versions unknown", Input{Plugin: "OpenSM 3.3.23"}, plugin, Advice, Version, "not compared"},
		{"clients", Input{}, "routing_engine lash,no_fallback\nqos TRUE\n", Warning, Contract, "every client uses"},
		{"clients honor", Input{Contract: &routing.Honored}, "routing_engine lash,no_fallback\nqos TRUE\n", Advice, Contract, "as you say yours do"},
		{"clients ask", Input{Contract: &routing.Directed}, "routing_engine dfsssp,no_fallback\nqos TRUE\n", Advice, Contract, "as you say yours do"},
		{"clients answer", Input{Contract: &routing.Honored}, "routing_engine dfsssp,no_fallback\nqos TRUE\n", Warning, Contract, "a passive side"},
		{"a policy", Input{}, "routing_engine file,no_fallback\nlfts_file /x\nqos_policy_file /y\nqos TRUE\n", Warning, Contract, "hold at most"},
		{"records not known", Input{Fabric: ring, Tables: tables(t, ring, "lash")}, plugin, Danger, CreditLoop, "for clients that use SL 0"},
		{"an unknown option", Input{}, plugin + "routing_engin weft\n", Warning, Odd, `no option "routing_engin"`},
		{"one SL", Input{Contract: &single}, plugin, Advice, Contract, "SL 2"},
		{"ftree", Input{Fabric: ring}, "routing_engine ftree,no_fallback\n", Danger, Refusal, "ftree is about to refuse"},
		{"updn", Input{Fabric: ring}, "routing_engine updn,no_fallback\n", Danger, Refusal, "updn is about to refuse"},
		{"torus", Input{Fabric: tree}, "routing_engine torus-2QoS,no_fallback\nqos TRUE\n", Danger, Refusal, "torus-2QoS is about to refuse"},
		{"a loop", Input{Fabric: ring, Tables: tables(t, ring, "minhop")}, plugin, Danger, CreditLoop, "for clients that use SL 0"},
		{"a loop, asked", Input{Fabric: ring, Tables: tables(t, ring, "dfsssp"), SLs: true, Contract: &single}, plugin, Danger, CreditLoop, "under contract single:2"},
		{"a plugin that is not asked", Input{}, "event_plugin_name weft\nrouting_engine updn,no_fallback\n", Warning, PluginOption, "never asked"},
		{"no_fallback by itself", Input{}, "routing_engine updn\nno_fallback TRUE\n", Danger, SilentFallback, "no_fallback is no option of its own"},
		{"no_fallback, misspelt", Input{}, "routing_engine updn\nno_falback TRUE\n", Danger, SilentFallback, "no_falback is no option of its own"},
		{"several engines", Input{}, "routing_engine ftree,lash,updn\n", Danger, SilentFallback, "when ftree, lash and updn fail, OpenSM"},
		{"an option of the plugin", Input{}, plugin + "event_plugin_options weft.contrakt=any\n", Danger, PluginOption, "no option weft.contrakt"},
		{"an option without the prefix", Input{}, "event_plugin_name weft\nevent_plugin_options x=1,contract=any\n", Warning, PluginOption, "contract does not begin with weft."},
		{"an option with another prefix", Input{}, plugin + "event_plugin_options wefft.contract=any\n", Warning, PluginOption, "wefft.contract does not begin with weft."},
		{"an option without a value", Input{}, plugin + "event_plugin_options weft.socket\n", Danger, PluginOption, "weft.socket has no value"},
		{"packets live for ever", Input{}, plugin + "packet_life_time 0x14\n", Warning, PluginOption, "packet_life_time 0x14: switches keep packets for ever"},
		{"a relative socket", Input{}, plugin + "event_plugin_options weft.socket=run/s\n", Danger, PluginOption, "weft.socket=run/s is wrong"},
		{"a long socket", Input{}, plugin + "event_plugin_options weft.socket=/" + strings.Repeat("s", 107) + "\n", Danger, PluginOption, "is wrong"},
		{"a deadline with a unit", Input{}, plugin + "event_plugin_options weft.deadline=10s\n", Danger, PluginOption, "weft.deadline=10s is wrong"},
		{"no wait", Input{}, plugin + "event_plugin_options weft.wait=0\n", Danger, PluginOption, "weft.wait=0 is wrong"},
		{"nobody", Input{}, plugin + "event_plugin_options weft.owner=\n", Danger, PluginOption, "weft.owner= is wrong"},
		{"no contract", Input{}, plugin + "event_plugin_options weft.contract=single:16\n", Danger, PluginOption, "weft.contract=single:16 is wrong"},
		{"no scope", Input{}, plugin + "event_plugin_options weft.scope=everything\n", Danger, PluginOption, "weft.scope=everything is wrong"},
		{"directed", Input{}, plugin + "event_plugin_options weft.contract=directed\n", Warning, PluginOption, "lets the plugin take"},
		{"directed, needlessly", Input{Fabric: ring, Tables: tables(t, ring, "updn"), SLs: true}, plugin + "event_plugin_options weft.contract=directed\n", Warning, PluginOption, "weaker than what the tables"},
		{"less than clients do", Input{Contract: &single}, plugin + "event_plugin_options weft.contract=single:1\n", Warning, PluginOption, "proven for contract single:1 only"},
		{"the last counts", Input{Contract: &single}, plugin + "event_plugin_options weft.contract=single:2 weft.contract=honored\n", Warning, PluginOption, "proven for contract honored only"},
		{"by default less", Input{Contract: &single}, plugin, Advice, PluginOption, "proven for contract honored only"},
		{"more than the tables hold", Input{Fabric: ring, Tables: tables(t, ring, "dfsssp"), SLs: true, Contract: &routing.Honored}, plugin + "event_plugin_options weft.contract=any\nqos TRUE\n", Warning, PluginOption, "a credit loop under it"},
		{"more than one lane holds", Input{Fabric: ring, Tables: tables(t, ring, "dfsssp"), SLs: true}, plugin + "event_plugin_options weft.contract=single:5\nqos TRUE\n", Warning, PluginOption, "a credit loop under it"},
		{"fewer endpoints", Input{Scope: routing.All}, plugin + "event_plugin_options weft.scope=ca\n", Warning, PluginOption, "proven for ca only"},
		{"a long line", Input{}, plugin + "log_prefix " + strings.Repeat("x", 1100) + "\n", Warning, Odd, "longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Conf = configuration(t, c.text)
			r, err := Run(t.Context(), c.in)
			if err != nil {
				t.Fatal(err)
			}
			if !has(r, c.level, c.code, c.words) {
				t.Errorf("no %s of %s with %q: %+v", c.level, c.code, c.words, r.Findings)
			}
			last := -1
			for _, f := range r.Findings {
				at := slices.Index(levels, f.Level)*len(order) + slices.Index(order, f.Code)
				if at < last || f.Do == "" {
					t.Errorf("%+v comes after what is less dangerous, or says nothing to do", f)
				}
				last = at
			}
		})
	}
}

// Options that OpenSM does not know are named with the nearest that it knows, each
// once; of many the rest is counted.
func TestUnknownOptions(t *testing.T) {
	text := plugin + "QOS TRUE\nnue_max_vls 2\nnue_max_vls 3\n"
	for i := range 10 {
		text += fmt.Sprintf("qoz_mode%d 1\n", i)
	}
	r, err := Run(t.Context(), Input{Conf: configuration(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Code != Odd })
	if len(r.Findings) != maxUnknown+1 {
		t.Fatalf("%d findings of %d: %+v", len(r.Findings), maxUnknown+1, r.Findings)
	}
	if f := r.Findings[0]; !strings.Contains(f.What, `"QOS"`) || !strings.HasSuffix(f.Do, " qos") || f.Line != 3 {
		t.Errorf("%+v", f)
	}
	if f := r.Findings[maxUnknown]; !strings.HasPrefix(f.What, "4 more lines") {
		t.Errorf("%+v", f)
	}
}

// The options are those that the plugin reads.
func TestPluginOptions(t *testing.T) {
	source, err := os.ReadFile("../../../plugin/options.c")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "} known[] = {")
	table, _, _ = strings.Cut(table, "};")
	var read []string
	for _, m := range regexp.MustCompile(`\{"([^"]*)",`).FindAllStringSubmatch(table, -1) {
		read = append(read, m[1])
	}
	if names := pluginOptionNames(); !slices.Equal(names, read) {
		t.Errorf("%q; the plugin reads %q", names, read)
	}
}

// What the plugin would say of tables whose PathRecords are not known is not known.
func TestUnknownRecords(t *testing.T) {
	ring := testnet.Build(t, "ring:7,hosts=2")
	in := Input{Fabric: ring, Tables: tables(t, ring, "minhop"), Conf: configuration(t, plugin+"qos TRUE\n")}
	for _, c := range []struct {
		records bool
		said    bool
	}{{false, false}, {true, true}} {
		in.SLs = c.records
		r, err := Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if has(r, Warning, PluginOption, "a credit loop under it") != c.said {
			t.Errorf("records known %v: %+v", c.records, r.Findings)
		}
	}
}

// A line to copy keeps the other options.
func TestLineKeepsOptions(t *testing.T) {
	r, err := Run(t.Context(), Input{Contract: &routing.Any, Conf: configuration(t, plugin+"qos TRUE\nevent_plugin_options weft.socket=/s weft.contract=directed,x=1\n")})
	if err != nil {
		t.Fatal(err)
	}
	const want = "event_plugin_options weft.socket=/s,x=1,weft.contract=any"
	if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return slices.Equal(f.Lines, []string{want}) }) {
		t.Errorf("no line %q: %+v", want, r.Findings)
	}
}

// What is well set up has nothing but advice.
func TestNothingToSay(t *testing.T) {
	ring, tree := testnet.Build(t, "ring:7,hosts=2"), testnet.Build(t, "karytree:k=3,n=2")
	for name, c := range map[string]struct {
		in   Input
		text string
	}{
		"weft":         {Input{Plugin: "OpenSM 3.3.23", OpenSM: "OpenSM 3.3.23"}, plugin + "qos TRUE\n"},
		"weft, proven": {Input{Fabric: ring, Tables: tables(t, ring, "dfsssp"), SLs: true, Contract: &routing.Directed}, plugin + "qos TRUE\nmax_op_vls 4\n"},
		"options":      {Input{Fabric: ring, Tables: tables(t, ring, "updn"), Scope: routing.Adapters}, plugin + "event_plugin_options other=1 scope=2 weft.contract=any,weft.scope=ca,weft.socket=/run/s weft.deadline=3600,weft.wait=1,weft.owner=65534\n"},
		"no plugin":    {Input{}, "routing_engine updn,no_fallback\nevent_plugin_options weft.contrakt=any\n"},
		"one lane":     {Input{Fabric: ring, Tables: tables(t, ring, "updn")}, plugin},
		"ftree":        {Input{Fabric: tree}, "routing_engine ftree no_fallback\n"},
		"updn":         {Input{Fabric: tree}, "routing_engine updn,no_fallback\n"},
		"updn, roots":  {Input{Fabric: ring}, "routing_engine updn,no_fallback\nroot_guid_file /r\n"},
		"nue":          {Input{}, "routing_engine nue,no_fallback\n"},
		"file":         {Input{}, "routing_engine file,no_fallback\nlfts_file '/x y'\n"},
	} {
		c.in.Conf = configuration(t, c.text)
		r, err := Run(t.Context(), c.in)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bad() {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// Nothing is said against what a family has, nor of MinHop where the engine that is asked for makes the same
// tables, where MinHop is asked for, or where the tables are others.
func TestFamilies(t *testing.T) {
	ring, tree := testnet.Build(t, "ring:7,hosts=2"), testnet.Build(t, "karytree:k=3,n=2")
	for _, c := range []struct {
		text string
		in   Input
		not  string
	}{
		{"routing_engine ar_updn,no_fallback\nar_mode 1\nar_sl_mask 0xFFFF\nshield_mode 1\npgrp_policy_file /x\nvirt_enabled 2\n", Input{}, "knows no"},
		{"routing_engine updn,no_fallback\n", Input{Fabric: tree, Tables: tables(t, tree, "updn")}, "are MinHop's"},
		{"routing_engine dfsssp,no_fallback\n", Input{Fabric: ring, Tables: tables(t, ring, "dfsssp")}, "are MinHop's"},
		{"routing_engine minhop,no_fallback\n", Input{Fabric: tree, Tables: tables(t, tree, "minhop")}, "MinHop"},
		{"routing_engine lash,no_fallback\n", Input{Fabric: ring, Tables: tables(t, ring, "minhop")}, "are MinHop's"}, // there is one way only
		{"routing_engine updn,no_fallback\n", Input{}, "NVIDIA"},
		{"routing_engine updn,no_fallback\nar_mode 1\nvirt_enabled 1\n", Input{OpenSM: "OpenSM 3.3.23"}, "NVIDIA"},
	} {
		c.in.Conf = configuration(t, c.text)
		r, err := Run(t.Context(), c.in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if strings.Contains(f.What, c.not) {
				t.Errorf("%q: %s", c.text, f.What)
			}
		}
	}
}
