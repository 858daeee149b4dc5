// Package check examines the configuration of an OpenSM, the tables that it dumped and
// the fabric, and reports what is dangerous, the worst first.
//
// It looks for what goes wrong without a message: OpenSM falls back to MinHop with one
// INFO line, skips an engine whose name it does not know, takes "true" for FALSE,
// reports success of dfsssp while QoS is off and no SL2VL table is ever written, folds
// lanes that a port does not have onto others, so that VL 9 uses VL 1, and continues
// without weft's plugin if one of the plugin's options is wrong.
//
// Files of NVIDIA's OpenSM (MLNX_OFED, DOCA, UFM) have other engines and options besides: what both have in
// common is checked, and what only NVIDIA's has is no finding.
//
// The facts are from OpenSM 3.3.23: its manual, its source and experiments. For
// OpenSM's own updn the search for roots is OpenSM's (updn_find_root_nodes_by_min_hop:
// a root sees more than 0.9 of all adapter ports at one distance and at most 0.05 at
// any other). For ftree and the others the rules are those of weft's engines of the
// same name, which say where a fabric breaks them.
package check

import (
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/routing"
)

// Level is the severity of a finding.
type Level string

// The levels, the worst first.
const (
	Danger  Level = "danger"  // packets may stop, or already use paths that are not proven
	Warning Level = "warning" // something is not as it seems to be
	Advice  Level = "advice"  // nothing is wrong; what to set
)

var levels = []Level{Danger, Warning, Advice}

// Code names a kind of finding. The order of the constants is that of findings of
// one level.
type Code string

// The kinds of finding.
const (
	CreditLoop     Code = "credit-loop"
	SilentFallback Code = "silent-fallback"
	QoSOff         Code = "qos-off"
	FewLanes       Code = "few-lanes"
	Version        Code = "version"
	PluginOption   Code = "plugin-option"
	Refusal        Code = "engine-refuses"
	Contract       Code = "contract"
	Odd            Code = "odd-line"
	OtherManager   Code = "other-manager"
)

var order = []Code{CreditLoop, SilentFallback, QoSOff, FewLanes, Version, PluginOption, Refusal, Contract, Odd, OtherManager}

// Finding is one problem or piece of advice.
type Finding struct {
	Level Level
	Code  Code
	What  string   // a sentence
	Do    string   // what to do about it
	Lines []string // for copying: into opensm.conf, or into the environment of clients
	Line  int      // in opensm.conf; 0: no particular line
}

// Report is all findings, the worst first. Each of its check methods adds those of one kind.
type Report struct {
	Family     conf.Family // of the subnet manager that the file is for
	Engines    []string    // that OpenSM will try, in order
	NoFallback bool        // it keeps its tables where all of these fail
	QoS        bool        // it writes SL2VL maps
	Lanes      int         // number of lanes that ports will have: the smaller of the hardware's and max_op_vls
	Needed     int         // number of lanes that the tables need; 0: not known
	Findings   []Finding

	free func(routing.Contract) bool // whether the tables in force have no credit loop under a contract; nil: not known
}

// Bad reports whether any finding is more than advice.
func (r *Report) Bad() bool {
	for _, f := range r.Findings {
		if f.Level != Advice {
			return true
		}
	}
	return false
}

// add adds a finding; Run sorts them.
func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }
