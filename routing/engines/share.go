package engines

import (
	"context"
	"slices"
	"sync"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/nue"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/paths/dmodc"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/lighter"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/routing"
)

// Sharing returns options with which engines share paths: what a path finder made for
// one engine is used again for the next on the same fabric. balance, weave and
// weave-any begin with the same paths, and so do sssp, dfsssp and df-d2. The options
// must not be changed after this, and engines that share must not run at the same time;
// an engine may make several paths at the same time.
func (o Options) Sharing() Options {
	o.shared = &shared{paths: map[string]*routing.Forwarding{}}
	return o
}

// sharing makes at least the attempts of one engine share paths.
func (o Options) sharing() Options {
	if o.shared == nil {
		return o.Sharing()
	}
	return o
}

// shared is paths by the name of their finder.
type shared struct {
	mutex sync.Mutex // of what follows
	f     *fabric.Fabric
	paths map[string]*routing.Forwarding
}

// made is the paths on a fabric that a finder has made; nil: none. For another fabric than before it
// forgets all paths.
func (s *shared) made(f *fabric.Fabric, name string) *routing.Forwarding {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.f != f {
		s.f = f
		clear(s.paths)
	}
	return s.paths[name]
}

// apart is the balanced paths, if they were made and leave apart what no host needs; else nil.
func (s *shared) apart(f *fabric.Fabric) *routing.Forwarding {
	if fw := s.made(f, balanceName); fw != nil && fw.Apart {
		return fw
	}
	return nil
}

// store notes the paths that a finder has made.
func (s *shared) store(name string, fw *routing.Forwarding) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.paths[name] = fw
}

// finder is a path finder that reuses its paths if they are there; without sharing, the given one.
func (s *shared) finder(name string, given routing.PathFinder) routing.PathFinder {
	if s == nil {
		return given
	}
	return sharedFinder{shared: s, name: name, given: given}
}

// sharedFinder is a path finder whose paths are shared by name.
type sharedFinder struct {
	*shared
	name  string
	given routing.PathFinder
}

func (s sharedFinder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	if fw := s.made(f, s.name); fw != nil {
		return fw, ctx.Err()
	}
	fw, err := s.given.Paths(ctx, f, p)
	if err == nil {
		s.store(s.name, fw)
	}
	return fw, err
}

// weavePaths is the path finders of weave: balanced paths, and balanced paths in
// dimension order on a torus, which need fewer lanes.
func weavePaths(o Options) []routing.PathFinder {
	return []routing.PathFinder{o.balanced(), regular{o}}
}

const balanceName = "balance"

// balanced is the finder of balanced paths, shared.
func (o Options) balanced() routing.PathFinder {
	return o.shared.finder(balanceName, o.balance())
}

// balance is the finder of balanced paths, with the paths of others that it may begin with. For the aim
// Shifts dmodc's are left out: on a damaged tree they are the best beginning, but the
// search ends with a tenth less than from the others.
func (o Options) balance() routing.PathFinder {
	begin := []balance.Beginning{
		{Name: "ftree", Paths: o.shared.finder("ftree", fattree.Finder{})},
		{Name: "sssp", Paths: o.shared.finder("sssp", sssp.Finder{})},
	}
	if o.Aim == Mixed {
		begin = append(begin, balance.Beginning{Name: "dmodc", Paths: o.shared.finder("dmodc", dmodc.Finder{}), Slow: true})
	}
	begin = append(begin, balance.Beginning{Name: "nue", Paths: o.shared.finder("nue on one lane", oneLane{nue.Engine{}}), Slow: true})
	return onOrders{o: o, finder: balance.Finder{Seed: o.Seed, Aim: o.Aim, Weights: o.Weights, Demands: o.Demands, Begin: begin}}
}

// oneLane is the paths that an engine makes for one lane.
type oneLane struct{ routing.Engine }

// Paths implements routing.PathFinder.
func (e oneLane) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	t, err := e.Route(ctx, f, routing.Budget{VLs: 1}, p)
	if err != nil {
		return nil, err
	}
	return t.Forwarding, nil
}

// onOrders is balance with the orders of ranks of the options or, without any, of the
// fabric.
type onOrders struct {
	o      Options
	finder balance.Finder
}

// Paths implements routing.PathFinder.
func (b onOrders) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	if b.finder.Orders = b.o.Orders; b.finder.Orders == nil && b.o.Demands == nil {
		b.finder.Orders = defaultOrders(f)
	}
	return b.finder.Paths(ctx, f, p)
}

// RankOrder is how the ranks of a job sit on the hosts.
type RankOrder = balance.Order

// Demand is what a host sends to another, relative to other demands.
type Demand = balance.Demand

// defaultOrders is how ranks may sit on the host adapters of a fabric: by switch and
// port, and by the names of hosts if that is another order, so that no paths are made
// for one of them alone.
func defaultOrders(f *fabric.Fabric) []balance.Order {
	bySwitch := f.ByPort(routing.HCA.Endpoints(f))
	byName := names.New(f).ByName(bySwitch)
	orders := []balance.Order{{Name: "switch", Ranks: bySwitch}}
	if !slices.Equal(bySwitch, byName) {
		orders = append(orders, balance.Order{Name: "name", Ranks: byName})
	}
	return orders
}

// lighter is the finder of symmetric paths or, with an eighth less on the fullest channel, sssp's.
func (o Options) lighter() routing.PathFinder {
	return lighter.Finder{Of: []routing.PathFinder{o.shared.finder("symmetric", symmetric.Finder{}), o.shared.finder("sssp", sssp.Finder{})}, OneWay: true}
}

// regular is balanced paths in dimension order on meshes and tori; on other networks
// the same as balance.
type regular struct{ o Options }

func (r regular) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	finder := r.o.balanced()
	if balance.Ordered(f) {
		inOrder := balance.Finder{Seed: r.o.Seed, Aim: r.o.Aim, Weights: r.o.Weights, Regular: true}
		finder = r.o.shared.finder(balanceName+" in the order of dimensions", inOrder)
	}
	return finder.Paths(ctx, f, p)
}
