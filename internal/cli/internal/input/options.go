package input

import (
	"fmt"
	"io"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/jobfiles"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// Options is what the flags tell an engine, with the names in them found in the fabric that it
// routes and the files read.
func Options(c *console.Console, f *fabric.Fabric, o *flags.Engine) (engines.Options, error) {
	told := o.Words
	told.Seed = o.Seed
	var err error
	if told.Weights, err = weights(f, o.Weights); err != nil {
		return told, err
	}
	if told.Orders, err = rankOrders(c, f, o.Ranks); err != nil {
		return told, err
	}
	if o.Traffic != "" {
		if told.Demands, err = demands(c, f, o.Traffic); err != nil {
			return told, err
		}
	}
	if o.Before != "" {
		if told.Before, err = Fabric(c, o.Before); err != nil {
			return told, fmt.Errorf("--before: %w", err)
		}
	}
	roots, err := Switches(f, "--roots", o.Roots)
	for _, s := range roots {
		told.Roots = append(told.Roots, f.Node(s).GUID)
	}
	return told, err
}

// demands reads --traffic.
func demands(c *console.Console, f *fabric.Fabric, file string) ([]engines.Demand, error) {
	hosts, err := names.New(f).Endpoints(routing.HCA.Endpoints(f))
	if err != nil {
		return nil, err
	}
	var ranks traffic.Placement
	pattern, err := console.ReadFile(c, file, func(r io.Reader, name string) (p traffic.Pattern, err error) {
		p, ranks, err = jobfiles.Pairs(r, name, hosts)
		return p, err
	})
	if err != nil {
		return nil, err
	}
	return list.Of(pattern.Append(nil, len(ranks), 0, nil), func(p traffic.Pair) engines.Demand {
		return engines.Demand{From: ranks[p.From], To: ranks[p.To], Bytes: max(1, p.Bytes)}
	}), nil
}

// weights is the weight of every endpoint, or nil if none is given.
func weights(f *fabric.Fabric, texts []string) ([]uint8, error) {
	all := make([]jobfiles.Weighting, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = jobfiles.ParseWeighting(text); err != nil {
			return nil, exit.Usage("--weight %w", err)
		}
	}
	weights, unknown := jobfiles.Weigh(names.New(f), f, all)
	if len(unknown) > 0 {
		return nil, exit.Usage("--weight: %w", unknown[0])
	}
	return weights, nil
}

// Parts is what --switch, --cable and --host name.
type Parts struct {
	Switches, Adapters []fabric.NodeID
	Cables             []fabric.ChannelID
}

// PartsOf finds the parts of a fabric that are named.
func PartsOf(f *fabric.Fabric, o *flags.Parts) (p Parts, err error) {
	if p.Switches, err = Switches(f, "--switch", o.Switches); err != nil {
		return p, err
	}
	if p.Adapters, err = Adapters(f, "--host", o.Hosts); err != nil {
		return p, err
	}
	p.Cables, err = cables(f, "--cable", o.Cables)
	return p, err
}

// Without is a fabric without parts of it, and what went.
func (p *Parts) Without(f *fabric.Fabric) (*fabric.Fabric, result.GoneParts, error) {
	gone := result.GoneParts{
		Switches: report.Labels(f, p.Switches), Links: outputs.RemovedLinks(f, p.Cables), Hosts: report.Labels(f, p.Adapters),
		SwitchNodes: outputs.Nodes(f, p.Switches), HostNodes: outputs.Nodes(f, p.Adapters),
	}
	left, err := f.Without(p.Cables, slices.Concat(p.Switches, p.Adapters))
	if err == nil && left.Switches() == 0 {
		err = exit.Usage("no switch is left; one has to stay")
	}
	return left, gone, err
}

// cables is the cables at some ports, NAME:PORT, or at those of patterns, each of them once.
func cables(f *fabric.Fabric, flag string, ports []string) ([]fabric.ChannelID, error) {
	index := names.New(f)
	var all []fabric.ChannelID
	for _, port := range ports {
		found, err := index.Cables(port)
		if err != nil {
			return nil, exit.Usage("%s %s: %w", flag, port, err)
		}
		for _, c := range found {
			if !slices.Contains(all, c) && !slices.Contains(all, f.Channel(c).Reverse) {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// Switches is the switches of some names and patterns, each of them once, in the order
// they are named.
func Switches(f *fabric.Fabric, flag string, list []string) ([]fabric.NodeID, error) {
	return named(flag, list, names.New(f).Switches)
}

// Adapters is likewise the adapters, or those of the hosts that are named.
func Adapters(f *fabric.Fabric, flag string, list []string) ([]fabric.NodeID, error) {
	return named(flag, list, names.New(f).Adapters)
}

// named finds the nodes of each name of a flag by find, and lists each node once.
func named(flag string, list []string, find func(name string) ([]fabric.NodeID, error)) ([]fabric.NodeID, error) {
	var all []fabric.NodeID
	for _, name := range list {
		nodes, err := find(name)
		if err != nil {
			return nil, exit.Usage("%s: %w", flag, err)
		}
		for _, n := range nodes {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all, nil
}
