package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/opensm/daemon"
	"github.com/weft-fabric/weft/report"
	"github.com/weft-fabric/weft/watch"
)

// schema is the form of a JSON output. Its number rises when a field goes or changes
// its meaning; fields that are added do not change it. docs/json.md has every field.
type schema struct {
	name    string // what the output calls itself
	command string // that prints it
	form    any    // a value of its type
}

// schemas is every JSON output. Lists have no place for a name: they are as they were
// before there were any.
var schemas = []schema{
	{"weft/compare/1", "weft compare", compareSummary{}},
	{"weft/degrade/1", "weft degrade", degradeSummary{}},
	{"weft/deploy-check/1", "weft deploy check", checkSummary{}},
	{"weft/deploy-files/1", "weft deploy files", deploySummary{}},
	{"weft/deploy-refusal/1", "weft deploy files, where files cannot express the tables", deployRefusal{}},
	{"weft/drain/1", "weft drain", drainSummary{}},
	{"weft/engines/1", "weft engines, a list", []engineSummary{}},
	{"weft/experiments/1", "weft reproduce --list, a list", []experimentSummary{}},
	{"weft/diff/1", "weft diff", diffSummary{}},
	{"weft/explain/1", "weft explain", explainSummary{}},
	{"weft/info/1", "weft info", infoSummary{}},
	{"weft/lanes/1", "weft lanes", lanesSummary{}},
	{"weft/packets/1", "weft packets", packetsSummary{}},
	{"weft/plan/1", "plan.json of weft route --steps", planSummary{}},
	{"weft/refusal/1", "route, simulate, packets, deploy files, where an engine refuses; route --keep, what-if and drain, where there is no plan", refusalSummary{}},
	{"weft/none-proven/1", "the same, where auto finds no engine that is proven", noneProvenSummary{}},
	{"weft/replay-ethernet/1", "weft packets --replay-cycle, of a lossless Ethernet network", replayEthernetSummary{}},
	{"weft/replay/1", "weft packets --replay-cycle", replaySummary{}},
	{"weft/reproduce/1", "weft reproduce", reproduceSummary{}},
	{"weft/reproduce-plan/1", "weft reproduce --dry-run", reproducePlan{}},
	{"weft/report/1", "weft report", report.Data{}},
	{"weft/route/1", "weft route, and summary.json of --out", routeSummary{}},
	{"weft/route-adaptive/1", "weft route, of adaptive engines", adaptiveSummary{}},
	{"weft/place/1", "weft place", placeSummary{}},
	{"weft/simulate/1", "weft simulate", simulateSummary{}},
	{"weft/sweep/1", "weft sweep", campaignSummary{}},
	{"weft/sweep-merge/1", "weft sweep merge", mergeSummary{}},
	{"weft/sweep-plan/1", "weft sweep --dry-run", sweepPlanSummary{}},
	{"weft/status/1", "weft status", daemon.Status{}},
	{"weft/watch-look/1", "weft watch --once", watch.Look{}},
	{"weft/watch-log/1", "weft watch log", watchHistory{}},
	{"weft/topologies/1", "weft topologies, a list", []topologySummary{}},
	{"weft/verify/1", "weft verify", verifySummary{}},
	{"weft/route-ethernet/1", "weft route, of a lossless Ethernet network, and summary.json of --out", routeEthernetSummary{}},
	{"weft/verify-ethernet/1", "weft verify, of a lossless Ethernet network", verifyEthernetSummary{}},
	{"weft/verify-failures/1", "weft verify --failures", ethernetFailuresSummary{}},
	{"weft/verify-certificate/1", "weft verify --certificate, where the proof does not hold", badCertificate{}},
	{"weft/what-if/1", "weft what-if", whatIfSummary{}},
	{"weft/version/1", "weft version", versionSummary{}},
}

func schemaOf(v any) (schema, error) {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, s := range schemas {
		if reflect.TypeOf(s.form) == t {
			return s, nil
		}
	}
	return schema{}, exit.Internal("no JSON schema for %s", t)
}

func (a *app) printJSON(v any) error { return printJSON(a.Stdout, v, a.Warnings) }

// encoded is a value as JSON, whose lines but the first begin with a prefix.
func encoded(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent(prefix, "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// printJSON prints a value for programs, with its schema and the version of weft
// before its own fields, and the warnings of its input where it has none of its own.
func printJSON(w io.Writer, v any, warnings []string) error {
	s, err := schemaOf(v)
	if err != nil {
		return err
	}
	text, err := encoded(v, "")
	if err != nil {
		return err
	}
	if rest, ok := bytes.CutPrefix(text, []byte("{\n")); ok {
		head := fmt.Sprintf("{\n  \"schema\": %q,\n", s.name)
		if !bytes.Contains(text, []byte("\n  \"version\": ")) { // version and status have one
			head += fmt.Sprintf("  \"version\": %q,\n", version().Version)
		}
		if len(warnings) > 0 && !bytes.Contains(text, []byte("\n  \"warnings\": ")) { // info, route and the report have them
			list, err := encoded(warnings, "  ")
			if err != nil {
				return err
			}
			head += fmt.Sprintf("  \"warnings\": %s,\n", bytes.TrimSpace(list))
		}
		text = append([]byte(head), rest...)
	}
	_, err = w.Write(text)
	return err
}

// answer prints a result, for programs or for people; found says that it is a finding.
func (a *app) answer(asJSON bool, s any, forPeople func() error, found bool) error {
	print := forPeople
	if asJSON {
		print = func() error { return a.printJSON(s) }
	}
	if err := print(); err != nil || !found {
		return err
	}
	return &exit.Error{Code: exit.Found}
}

// refuse says that there is no result, for people and if asked for programs.
func (a *app) refuse(asJSON bool, s any, format string, args ...any) error {
	if asJSON {
		if err := a.printJSON(s); err != nil {
			return err
		}
	}
	return exit.Finding(format, args...)
}
