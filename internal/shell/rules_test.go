package shell_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/internal/testnet"
)

// rule is an alert rule.
type rule struct {
	Alert       string            `yaml:"alert"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rulesOf(t *testing.T) (files []string, all map[string]rule) {
	t.Helper()
	files, err := filepath.Glob("../../build/packaging/monitoring/*.rules.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	all = map[string]rule{}
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Groups []struct {
				Rules []rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		if err := yaml.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Groups[0].Rules {
			all[r.Alert] = r
		}
		if files[i], err = filepath.Abs(name); err != nil {
			t.Fatal(err)
		}
	}
	return files, all
}

// What is scraped where nothing is wrong, a value a minute.
const quiet = `up{W} 1x60
weft_watch_last_look_timestamp_seconds{W} 0+60x60
up{S} 1x60
weft_opensm_connected{S} 1x60
weft_proven{S} 1x60
weft_sweeps_total{S,verdict="deadlock-free"} 1+1x60
weft_pairs_cut{S} 0x60
weft_plan_steps_left{S} 0x60
weft_state_ok{S} 1x60
weft_internal_errors_total{S} 0x60
weft_state_put_aside_total{S} 0x60
weft_proof_checker_answers_total{S,answer="refused"} 0x60
weft_proof_checker_answers_total{S,answer="failed"} 0x60
weft_watch_changes_total{W,what="recabled"} 0x60
`

// troubles is what goes wrong, and the one alert that is to fire by then.
var troubles = []struct {
	name, alert string
	minute      int
	series      string // in place of that of the same name; without values: it is scraped no more
	labels      string
}{
	{"weft serve stops answering", "WeftDown", 45, `up{S} 1x5 0x55`, "S"},
	{"weft serve is no target any more", "WeftDown", 45, `up{S}`, `job="weft"`},
	{"OpenSM dies", "OpenSMGone", 45, `weft_opensm_connected{S} 1x5 0x55`, `S,host="s"`},
	{"a sweep is refused", "WeftRefuses", 45, `weft_proven{S} 1x5 0x55`, "S"},
	{"pairs stay cut", "WeftPairsCut", 45, `weft_pairs_cut{S} 0x5 12x55`, "S"},
	{"a plan does not end", "WeftPlanStands", 45, `weft_plan_steps_left{S} 0x5 2x55`, "S"},
	{"the disk is full", "WeftStateNotWritten", 45, `weft_state_ok{S} 1x5 0x55`, "S"},
	{"a cable goes", "WeftPartMissing", 45, `weft_missing{S,kind="cable",name="a:1 – b:2"} _x5 1x55`, `S,kind="cable",name="a:1 – b:2"`},
	{"a cable flaps", "WeftCableInTrouble", 45, `weft_cable_trouble{S,kind="flaps",level="error",name="a:1 – b:2"} _x5 1x55`, `S,kind="flaps",level="error",name="a:1 – b:2"`},
	{"an error of its own", "WeftInternalError", 45, `weft_internal_errors_total{S} 0x5 1x55`, "S"},
	{"tables without a proof", "WeftProofRefused", 45, `weft_proof_checker_answers_total{S,answer="refused"} 0x5 1x55`, `S,answer="refused"`},
	{"a proof checker that does not run", "WeftProofFailed", 45, `weft_proof_checker_answers_total{S,answer="failed"} 0x5 1x55`, `S,answer="failed"`},
	{"a credit loop", "FabricCanDeadlock", 45, `weft_watch_alarm{W,kind="credit-loop"} 0x5 1x55`, `W,kind="credit-loop"`},
	{"pairs cut off", "FabricLosesPackets", 45, `weft_watch_alarm{W,kind="cut-off"} 0x5 1x55`, `W,kind="cut-off"`},
	{"MinHop in silence", "FabricRoutedByAnother", 45, `weft_watch_alarm{W,kind="fallback"} 0x5 1x55`, `W,kind="fallback"`},
	{"tables of another time", "FabricTablesStale", 45, `weft_watch_alarm{W,kind="stale-tables"} 0x5 1x55`, `W,kind="stale-tables"`},
	{"a verdict in doubt", "FabricVerdictDoubtful", 45, `weft_watch_alarm{W,kind="unproven"} 0x5 1x55`, `W,kind="unproven"`},
	{"a cable leads elsewhere", "FabricRecabled", 45, `weft_watch_changes_total{W,what="recabled"} 0x5 1x55`, `W,what="recabled"`},
	{"a switch goes", "FabricPartMissing", 45, `weft_watch_missing{W,kind="switch",name="sw-7"} _x5 1x55`, `W,kind="switch",name="sw-7"`},
	{"a cable flaps that weft serve does not know", "FabricFlaps", 45, `weft_watch_cable_trouble{W,kind="flaps",level="error",name="a:1 – b:2",guid="0x1",port="1",switch="a"} _x5 1x55`, `W,kind="flaps",level="error",name="a:1 – b:2",guid="0x1",port="1",switch="a"`},
	{"errors come", "FabricCableInTrouble", 45, `weft_watch_cable_trouble{W,kind="symbol",level="error",name="a:1 – b:2",guid="0x1",port="1",switch="a"} _x5 1x55`, `W,kind="symbol",level="error",name="a:1 – b:2",guid="0x1",port="1",switch="a"`},
	{"no tables that fit", "FabricSweepFailed", 45, `weft_watch_alarm{W,kind="sweep-failed"} 0x5 1x55`, `W,kind="sweep-failed"`},
	{"OpenSM dies where no weft serve is", "FabricOpenSMGone", 45, `weft_watch_alarm{W,kind="opensm-gone"} 0x5 1x55`, `W,kind="opensm-gone",host="w"`},
	{"another OpenSM is master", "FabricOpenSMStandby", 45, `weft_watch_alarm{W,kind="opensm-standby"} 0x5 1x55`, `W,kind="opensm-standby"`},
	{"OpenSM dumps no more", "FabricNotDumped", 45, `weft_watch_alarm{W,kind="not-dumped"} 0x5 1x55`, `W,kind="not-dumped"`},
	{"a slow cable", "FabricLinkDegraded", 45, `weft_watch_link_degraded{W,guid="0x1",port="3",switch="sw",kind="slow-link"} _x5 1x55`, `W,guid="0x1",port="3",switch="sw",kind="slow-link"`},
	{"nothing to read", "FabricUnreadable", 45, `weft_watch_alarm{W,kind="unreadable"} 0x5 1x55`, `W,kind="unreadable"`},
	{"a session is gone", "EthernetNextHopsGone", 45, `weft_watch_alarm{W,kind="next-hops-gone"} 0x5 1x55`, `W,kind="next-hops-gone"`},
	{"fewer next hops than peers", "EthernetGroupNarrow", 45, `weft_watch_alarm{W,kind="narrow-group"} 0x5 1x55`, `W,kind="narrow-group"`},
	{"PFC at one end", "EthernetLosslessDiffers", 45, `weft_watch_alarm{W,kind="lossless-differs"} 0x5 1x55`, `W,kind="lossless-differs"`},
	{"pins fall back", "EthernetPinsFellBack", 45, `weft_watch_alarm{W,kind="pins-fell-back"} 0x5 1x55`, `W,kind="pins-fell-back"`},
	{"a device is silent", "EthernetDeviceSilent", 45, `weft_watch_alarm{W,kind="silent-device"} 0x5 1x55`, `W,kind="silent-device"`},
	{"a host pauses for ever", "EthernetPauseStorm", 45, `weft_watch_alarm{W,kind="pause-storm"} 0x5 1x55`, `W,kind="pause-storm"`},
	{"the watchdog drops", "EthernetWatchdogDrops", 45, `weft_watch_alarm{W,kind="watchdog-drops"} 0x5 1x55`, `W,kind="watchdog-drops"`},
	{"weft watch stops answering", "FabricUnwatched", 45, `up{W} 1x5 0x55`, "W"},
	{"weft watch is no target any more", "FabricUnwatched", 45, `up{W}`, `job="weft-watch"`},
	{"it looks no more", "FabricUnwatched", 45, `weft_watch_last_look_timestamp_seconds{W} 0+60x5 300x55`, "W"},
}

// nearly is what comes near to each rule, and must not fire: it is over before anybody should be called, or
// another rule tells.
var nearly = []struct {
	name, alert string
	minute      int
	series      string
}{
	{"weft serve is started again", "WeftDown", 6, `up{S} 1x5 0x0 1x55`},
	{"OpenSM is started again", "OpenSMGone", 6, `weft_opensm_connected{S} 1x5 0x0 1x55`},
	{"a sweep is refused, and the next is not", "WeftRefuses", 6, `weft_proven{S} 1x5 0x0 1x55`},
	{"OpenSM has never asked", "WeftRefuses", 45, "weft_proven{S} 0x60\nweft_sweeps_total{S,verdict=\"deadlock-free\"} 0x60"},
	{"pairs are cut until the next step", "WeftPairsCut", 7, `weft_pairs_cut{S} 0x5 12x1 0x55`},
	{"a plan takes a while", "WeftPlanStands", 30, `weft_plan_steps_left{S} 0x5 2x20 0x35`},
	{"the disk was full for a moment", "WeftStateNotWritten", 6, `weft_state_ok{S} 1x5 0x0 1x55`},
	{"a part is back", "WeftPartMissing", 45, `weft_missing{S,kind="cable",name="a:1 – b:2"} _x5 1x5 _x50`},
	{"a drained part is pulled", "WeftPartMissing", 45, `weft_missing{S,kind="switch",name="sw-7"} _x5 0x55`},
	{"a drained part is pulled, as weft serve knows", "FabricPartMissing", 45, `weft_missing{S,kind="switch",name="sw-7"} _x5 0x55
weft_watch_missing{W,kind="switch",name="sw-7"} _x5 1x55`},
	{"a cable is slow, which weft watch tells", "WeftCableInTrouble", 45, `weft_cable_trouble{S,kind="slow-link",level="error",name="a:1 – b:2"} 1x60`},
	{"a cable may be in trouble", "WeftCableInTrouble", 45, `weft_cable_trouble{S,kind="waits",level="warning",name="a:1 – b:2"} 1x60`},
	{"an error of long ago", "WeftInternalError", 45, `weft_internal_errors_total{S} 3x60`},
	{"tables without a proof, long ago", "WeftProofRefused", 45, `weft_proof_checker_answers_total{S,answer="refused"} 3x60`},
	{"a proof checker that did not run long ago", "WeftProofFailed", 45, `weft_proof_checker_answers_total{S,answer="failed"} 3x60`},
	{"no loop", "FabricCanDeadlock", 45, `weft_watch_alarm{W,kind="credit-loop"} 0x60`},
	{"pairs are cut off while OpenSM routes", "FabricLosesPackets", 7, `weft_watch_alarm{W,kind="cut-off"} 0x5 1x1 0x55`},
	{"tables of another engine for a moment", "FabricRoutedByAnother", 6, `weft_watch_alarm{W,kind="other-tables"} 0x5 1x0 0x54`},
	{"tables of another time for a moment", "FabricTablesStale", 10, `weft_watch_alarm{W,kind="stale-tables"} 0x5 1x4 0x55`},
	{"a verdict in doubt for a moment", "FabricVerdictDoubtful", 19, `weft_watch_alarm{W,kind="unproven"} 0x5 1x10 0x45`},
	{"a cable was moved long ago", "FabricRecabled", 45, `weft_watch_changes_total{W,what="recabled"} 1x60`},
	{"a part is back when it is looked again", "FabricPartMissing", 6, `weft_watch_missing{W,kind="switch",name="sw-7"} _x5 1x0 stale`},
	{"a cable flaps no more", "FabricFlaps", 45, `weft_watch_cable_trouble{W,kind="flaps",level="error",name="a:1 – b:2",guid="0x1",port="1",switch="a"} 1x20 _x40`},
	{"a cable may have errors", "FabricCableInTrouble", 45, `weft_watch_cable_trouble{W,kind="symbol",level="warning",name="a:1 – b:2",guid="0x1",port="1",switch="a"} 1x60`},
	{"tables that fit", "FabricSweepFailed", 45, `weft_watch_alarm{W,kind="sweep-failed"} 0x60`},
	{"OpenSM is started again, as weft watch sees it", "FabricOpenSMGone", 6, `weft_watch_alarm{W,kind="opensm-gone"} 0x5 1x0 0x55`},
	{"another OpenSM is master for a moment", "FabricOpenSMStandby", 6, `weft_watch_alarm{W,kind="opensm-standby"} 0x5 1x0 0x54`},
	{"OpenSM dumps a little later than it sweeps", "FabricNotDumped", 6, `weft_watch_alarm{W,kind="not-dumped"} 0x5 1x0 0x54`},
	{"a link trains again", "FabricLinkDegraded", 6, `weft_watch_link_degraded{W,guid="0x1",port="3",switch="sw",kind="slow-link"} _x5 1x0 stale`},
	{"files that change just now", "FabricUnreadable", 6, `weft_watch_alarm{W,kind="unreadable"} 0x5 1x0 0x55`},
	{"next-hops-gone for a moment", "EthernetNextHopsGone", 6, `weft_watch_alarm{W,kind="next-hops-gone"} 0x4 1x0 0x50`},
	{"narrow-group for a moment", "EthernetGroupNarrow", 19, `weft_watch_alarm{W,kind="narrow-group"} 0x4 1x13 0x50`},
	{"lossless-differs for a moment", "EthernetLosslessDiffers", 6, `weft_watch_alarm{W,kind="lossless-differs"} 0x4 1x0 0x50`},
	{"pins-fell-back for a moment", "EthernetPinsFellBack", 9, `weft_watch_alarm{W,kind="pins-fell-back"} 0x4 1x3 0x50`},
	{"silent-device for a moment", "EthernetDeviceSilent", 9, `weft_watch_alarm{W,kind="silent-device"} 0x4 1x3 0x50`},
	{"no pause-storm", "EthernetPauseStorm", 45, `weft_watch_alarm{W,kind="pause-storm"} 0x60`},
	{"no watchdog-drops", "EthernetWatchdogDrops", 45, `weft_watch_alarm{W,kind="watchdog-drops"} 0x60`},
	{"weft watch is started again", "FabricUnwatched", 6, `up{W} 1x5 0x0 1x55`},
}

// questions is the questions that a text asks of Prometheus, which have no answer where a case does not say so.
var questions = regexp.MustCompile(`\s*\{\{- (range|with) .*\{\{ end \}\}`)

// Every alert rule fires in its case, and no other does then; where nothing is wrong none fires: promtool
// plays an hour of each. A target that is gone, and takes its series along, is among them.
func TestEveryRuleFires(t *testing.T) {
	testnet.OnlyWhole(t)
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed; build/scripts/test-deps.sh does that")
	}
	t.Parallel()
	files, rules := rulesOf(t)
	full := strings.NewReplacer("{W", `{job="weft-watch",instance="w"`, "{S", `{job="weft",instance="s"`)
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%s]\nevaluation_interval: 1m\ntests:\n", strings.Join(files, ", "))
	summary := "" // of what fires, where it is not the rule's own
	play := func(name, series, alert string, minute int, labels string) {
		fmt.Fprintf(&b, "  - name: %q\n    interval: 1m\n    input_series:\n", name)
		for line := range strings.Lines(series) {
			of, values, _ := strings.Cut(strings.TrimSpace(full.Replace(line)), "} ")
			fmt.Fprintf(&b, "      - {series: '%s}', values: %q}\n", of, values)
		}
		b.WriteString("    alert_rule_test:\n")
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			fmt.Fprintf(&b, "      - eval_time: %dm\n        alertname: %s\n", minute, name)
			if r := rules[name]; name == alert {
				has := map[string]string{"severity": r.Labels["severity"]}
				for _, m := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(full.Replace("{"+labels), -1) {
					has[m[1]] = m[2]
				}
				filled := map[string]string{}
				for key, text := range r.Annotations {
					text = strings.ReplaceAll(text, "{{ $value }}", "12")
					filled[key] = regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`).ReplaceAllStringFunc(text, func(l string) string { return has[l[len("{{ $labels."):len(l)-len(" }}")]] })
				}
				for key, text := range filled {
					if key == "summary" && summary != "" {
						text = summary
					}
					filled[key] = questions.ReplaceAllString(text, "")
				}
				fmt.Fprintf(&b, "        exp_alerts: [{exp_labels: %s, exp_annotations: %s}]\n", inline(t, has), inline(t, filled))
			}
		}
	}
	play("nothing is wrong", quiet, "", 45, "")
	for _, c := range nearly {
		play(c.name, without(c.series)+c.series+"\n", "", c.minute, "")
	}
	fires := map[string]bool{}
	for _, c := range troubles {
		series := without(c.series)
		if _, _, gone := strings.Cut(c.series, "} "); gone {
			series += c.series + "\n"
		}
		play(c.name, series, c.alert, c.minute, c.labels)
		fires[c.alert] = true
	}
	spared := map[string]bool{}
	for _, c := range nearly {
		spared[c.alert] = true
	}
	for name := range rules {
		if !fires[name] || !spared[name] {
			t.Errorf("%s: there is no case in which it fires, or none in which it nearly does", name)
		}
	}
	play("both daemons see a cable go, and one tells", "weft_missing{S,kind=\"cable\",name=\"a\"} 1x60\nweft_watch_missing{W,kind=\"cable\",name=\"a\"} 1x60\n"+quiet, "WeftPartMissing", 45, `S,kind="cable",name="a"`)
	play("both daemons see a cable flap, and one tells", "weft_cable_trouble{S,kind=\"flaps\",level=\"error\",name=\"a\"} 1x60\nweft_watch_cable_trouble{W,kind=\"flaps\",level=\"error\",name=\"a\",guid=\"0x1\",port=\"1\",switch=\"a\"} 1x60\n"+quiet, "WeftCableInTrouble", 45, `S,kind="flaps",level="error",name="a"`)
	play("both daemons know that a cable has errors, and one tells", "weft_cable_trouble{S,kind=\"flaps\",level=\"error\",name=\"a\"} 1x60\nweft_watch_cable_trouble{W,kind=\"symbol\",level=\"error\",name=\"a\",guid=\"0x1\",port=\"1\",switch=\"a\"} 1x60\n"+quiet, "FabricCableInTrouble", 45, `W,kind="symbol",level="error",name="a",guid="0x1",port="1",switch="a"`)
	const here, there = `job="weft",instance="sm1:9471"`, `job="weft-watch",instance="sm1:9472"`
	another := "weft_watch_alarm{" + there + `,kind="fallback"} 0x5 1x55` + "\nweft_watch_alarm{" + there + `,kind="other-tables"} 0x5 1x55` + "\n"
	play("an OpenSM without the plugin routes by MinHop", another+"weft_opensm_connected{"+here+"} 1x5 0x55\n"+without("weft_opensm_connected{S}"), "FabricRoutedByAnother", 45, there+`,kind="fallback"`)
	summary = "OpenSM has no tables for the network as it is; those in the switches are of before. Gone: cable a:1 – b:2. Gone: switch sw-7. Cut off: 12 pairs."
	play("a cable and a switch go while the daemon is dead, and one alert names all", `weft_watch_alarm{W,kind="sweep-failed"} 0x5 1x55
weft_watch_alarm{W,kind="cut-off"} 0x5 1x55
weft_watch_missing{W,kind="cable",name="a:1 – b:2"} _x5 1x55
weft_watch_missing{W,kind="switch",name="sw-7"} _x5 1x55
weft_watch_missing{job="weft-watch",instance="another",kind="switch",name="sw-8"} _x50 1x10
weft_watch_pairs_cut{W} 0x5 12x55
`+quiet, "FabricSweepFailed", 45, `W,kind="sweep-failed"`)
	summary = ""
	dead := "weft_watch_alarm{" + there + `,kind="opensm-gone"} 0x5 1x55` + "\n"
	play("both daemons see OpenSM die, and one tells", dead+"weft_opensm_connected{"+here+"} 1x5 0x55\n"+without("weft_opensm_connected{S}"), "OpenSMGone", 45, here+`,host="sm1"`)
	play("OpenSM dies behind what weft watch sees, as weft serve knows", dead+"weft_opensm_connected{"+here+"} 1x60\n"+without("weft_opensm_connected{S}"), "", 45, "")
	play("OpenSM dies while weft serve is dead", dead+"weft_opensm_connected{"+here+"} 1x3 stale\n"+without("weft_opensm_connected{S}"), "FabricOpenSMGone", 45, there+`,kind="opensm-gone",host="sm1"`)
	test := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(test, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "test", "rules", test).CombinedOutput(); err != nil || !strings.Contains(string(out), "SUCCESS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// without is what is scraped where nothing is wrong, but for some series.
func without(series string) (rest string) {
	names := map[string]bool{}
	for line := range strings.Lines(series) {
		of, _, _ := strings.Cut(strings.TrimSpace(line), "} ")
		names[strings.TrimSuffix(of, "}")] = true
	}
	for line := range strings.Lines(quiet) {
		if name, _, _ := strings.Cut(line, "} "); !names[name] {
			rest += line
		}
	}
	return rest
}

// inline is a map on a line of YAML.
func inline(t *testing.T, m map[string]string) string {
	t.Helper()
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s: %q", key, m[key]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
