// Package ethernet is what the command does for lossless Ethernet: weft priorities and weft collect, and the part of the other
// commands that take such a network in place of a fabric of InfiniBand (twoKinds).
package ethernet

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/priorities/1", Command: "weft priorities, and summary.json of --out", Form: result.Priorities{}},
		{Schema: "weft/collect/1", Command: "weft collect", Form: result.Collect{}},
		{Schema: "weft/compare-ethernet/1", Command: "weft compare, of a lossless Ethernet network", Form: result.CompareEthernet{}},
		{Schema: "weft/pins/1", Command: "weft route --pin, and summary.json of --out, of a lossless Ethernet network", Form: result.Pins{}},
		{Schema: "weft/diff-ethernet/1", Command: "weft diff, of lossless Ethernet networks", Form: result.DiffEthernet{}},
		{Schema: "weft/what-if-ethernet/1", Command: "weft what-if, of a lossless Ethernet network", Form: result.WhatIfEthernet{}},
		{Schema: "weft/explain-ethernet/1", Command: "weft explain, of a lossless Ethernet network", Form: result.ExplainEthernet{}},
		{Schema: "weft/info-ethernet/1", Command: "weft info, of a lossless Ethernet network", Form: result.InfoEthernet{}},
		{Schema: "weft/simulate-ethernet/1", Command: "weft simulate, of a lossless Ethernet network", Form: result.SimulateEthernet{}},
		{Schema: "weft/replay-ethernet/1", Command: "weft packets --replay-cycle, of a lossless Ethernet network", Form: result.ReplayEthernet{}},
		{Schema: "weft/verify-ethernet/1", Command: "weft verify, of a lossless Ethernet network", Form: result.VerifyEthernet{}},
		{Schema: "weft/verify-failures/1", Command: "weft verify --failures", Form: result.EthernetFailures{}},
	}
}
