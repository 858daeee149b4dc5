package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/configfile"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/internal/jobfiles"
	"github.com/weft-fabric/weft/internal/loopback"
	nodenames "github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// DefaultEngines is tried where no engine is named: the best that is proven.
var DefaultEngines = Names{weft.Auto}

// defaultLimit is Config.Limit where it is zero.
const defaultLimit = 10 * time.Minute

// settings is a Config that was checked.
type settings struct {
	Config
	uses     option.Set // what any of Engine does
	contract routing.Contract
	scope    routing.Scope
	weights  []jobfiles.Weighting
	limit    time.Duration
	keep     keep
	hours    hours
	drops    bool
	groups   []uint16        // service levels of multicast groups, as bits, the first set with a tree; empty: no tree is wanted
	first    time.Duration   // firstAnswer, but in tests
	told     engines.Options // the words of the configuration; and those about the fabric at hand, see forFabric

	route func(context.Context, *fabric.Fabric, weft.Request) (*weft.Result, error) // weft.Route, but in tests
}

// key is the settings in words, as far as tables depend on them: others lead to other tables.
func (s *settings) key() string {
	return fmt.Sprintf("%v %q %s %s %d %d %d %q %s %q %v %s", s.groups, s.Engine, s.contract, s.scope, s.VLs, s.SLs, s.Classes, s.Roots, s.told.Aim, s.RankOrder, s.weights, s.Budget)
}

// checkClasses refuses classes of traffic where service levels say something else.
func (s *settings) checkClasses() error {
	if s.Classes < 0 || s.Classes > routing.MaxDataVLs {
		return fmt.Errorf("classes: %d: there are 1 to %d, a lane for each, and 0 is one", s.Classes, routing.MaxDataVLs)
	}
	if s.Classes > 1 && s.contract != routing.Any {
		return fmt.Errorf("classes: %d: they are told apart by service levels, so clients may use any: contract %s does not go with them", s.Classes, s.contract)
	}
	return nil
}

// Check returns a configuration with what it leaves out filled in, or says what is
// wrong with it.
func (c Config) Check() (Config, error) {
	s, err := c.check()
	if err != nil {
		return c, err
	}
	if _, err := groupID(s.Group); err != nil {
		return c, c.at("group", err)
	}
	c = s.Config
	c.Contract, c.Endpoints, c.Aim, c.Limit, c.Keep = s.contract.String(), s.scope.String(), s.told.Aim.String(), s.limit, string(s.keep)
	return c, nil
}

// check settles what the configuration means.
func (c Config) check() (*settings, error) {
	s := &settings{Config: c, contract: routing.Any, limit: c.Limit, first: firstAnswer, route: weft.Route}
	if len(s.Engine) == 0 {
		s.Engine = DefaultEngines
	}
	if s.limit == 0 {
		s.limit = defaultLimit
	}
	for _, setting := range []struct {
		key    string
		settle func() error
	}{
		{"socket", func() error { return checkSocket(c.Socket) }},
		{"engine", func() (err error) { s.uses, err = optionsOf(s.Engine); return err }},
		{"contract", func() (err error) {
			if c.Contract != "" {
				s.contract, err = routing.ParseContract(c.Contract)
			}
			return err
		}},
		{"endpoints", func() (err error) {
			if c.Endpoints != "" {
				s.scope, err = routing.ParseScope(c.Endpoints)
			}
			return err
		}},
		{"multicast_sl", s.settleGroups},
		{"vls", func() error { return checkRange("vls", c.VLs, routing.MaxDataVLs, "data lanes") }},
		{"sls", func() error { return checkRange("sls", c.SLs, routing.SLs, "service levels") }},
		{"classes", s.checkClasses},
		{"roots", func() error { return s.checkHeeded(option.Roots, len(c.Roots) > 0) }},
		{"aim", func() error { return s.settleWord(option.Aim, c.Aim) }},
		{"rank_order", s.settleOrders},
		{"weight", s.settleWeights},
		{"budget", s.settleBudget},
		{"limit", func() error { return configfile.NotNegative("limit", c.Limit) }},
		{"keep", func() (err error) { s.keep, err = parseKeep(c.Keep); return err }},
		{"max_entries_per_change", s.checkMostEntries},
		{"rebalance", s.settleHours},
		{"drops", s.settleDrops},
		{"state", func() error {
			if c.State == "" {
				return nil
			}
			return configfile.Absolute("state", c.State)
		}},
		{"proof_checker", func() error {
			if c.ProofChecker == "" {
				return nil
			}
			return configfile.Absolute("proof_checker", c.ProofChecker) // a daemon has no folder of its own
		}},
		{"metrics", func() error { return loopback.Check("metrics", c.Metrics) }},
		{"watch", func() error { return loopback.Check("watch", c.Watch) }},
	} {
		if err := c.at(setting.key, setting.settle()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// settleGroups sets groups.
func (s *settings) settleGroups() (err error) {
	switch s.MulticastSL {
	case "":
		s.groups = []uint16{weft.AnySL, 1}
	case none:
	default:
		var sls uint16
		if sls, err = routing.ParseLevels(s.MulticastSL); err == nil {
			s.groups = []uint16{sls}
		}
	}
	return err
}

// checkRange is an error unless n is 0, no limit, to most.
func checkRange(key string, n, most int, what string) error {
	if n < 0 || n > most {
		return fmt.Errorf("%s %d; there are 1 to %d %s, and 0 is no limit", key, n, most, what)
	}
	return nil
}

// checkHeeded refuses a setting that no engine of the list looks at.
func (s *settings) checkHeeded(option option.Set, given bool) error {
	if unused := (*setting.Unused)(nil); given && errors.As(setting.FirstUnused(s.Engine.String(), s.uses, option), &unused) {
		return fmt.Errorf("%s", unused.Error())
	}
	return nil
}

// settleWord reads an option that is one of a few words; empty: its default.
func (s *settings) settleWord(option option.Set, text string) (err error) {
	if text != "" {
		err = setting.Read(option, &s.told, text)
	}
	return errors.Join(err, s.checkHeeded(option, s.told.Given()&option != 0))
}

// settleWeights sets weights.
func (s *settings) settleWeights() error {
	for _, text := range s.Weight {
		w, err := jobfiles.ParseWeighting(text)
		if err != nil {
			return err
		}
		s.weights = append(s.weights, w)
	}
	return s.checkHeeded(option.Weights, len(s.weights) > 0)
}

// settleBudget checks budget.
func (s *settings) settleBudget() error {
	if err := configfile.NotNegative("budget", s.Budget); err != nil {
		return err
	}
	if s.Budget > 0 && !slices.Contains(s.Engine, weft.Auto) {
		return fmt.Errorf("budget is for %s; %s does not look at it", weft.Auto, s.Engine)
	}
	return nil
}

// forFabric is the settings with names in told as GUIDs and endpoints of a fabric, for prove. What is named and not
// there, since it may be down, is missing; if none of the roots is there, that is an error.
func (s *settings) forFabric(f *fabric.Fabric) (told *settings, missing []string, err error) {
	about := *s
	if len(s.Roots)+len(s.weights)+len(s.RankOrder) == 0 {
		return &about, nil, nil
	}
	index := nodenames.New(f)
	for _, name := range s.Roots {
		switches, err := index.Switches(name)
		if err != nil {
			missing = append(missing, "roots: "+err.Error())
		}
		for _, n := range switches {
			if guid := f.Node(n).GUID; !slices.Contains(about.told.Roots, guid) {
				about.told.Roots = append(about.told.Roots, guid)
			}
		}
	}
	if len(s.Roots) > 0 && len(about.told.Roots) == 0 {
		return nil, missing, fmt.Errorf("the fabric has none of the roots that are set: %s", s.Roots)
	}
	weights, unknown := jobfiles.Weigh(index, f, s.weights)
	for _, err := range unknown {
		missing = append(missing, "weight: "+err.Error())
	}
	about.told.Weights = weights
	orders, unknown := s.orders(index, f)
	for _, err := range unknown {
		missing = append(missing, "rank_order: "+err.Error())
	}
	about.told.Orders = orders
	return &about, missing, nil
}

// optionsOf checks the names of a list of engines, and returns the options that any uses.
func optionsOf(names Names) (uses option.Set, err error) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return 0, fmt.Errorf("engine %s is named twice", name)
		}
		if name == weft.Auto {
			uses |= setting.OfAuto()
			continue
		}
		e, err := engines.Named(name)
		if err != nil {
			return 0, err
		}
		uses |= e.Uses
	}
	return uses, nil
}

// checkSocket checks the path of the socket. The kernel takes short ones only, and bind makes the socket beside its path.
func checkSocket(path string) error {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1 - len(madeAs); len(path) > most {
		return fmt.Errorf("socket %q has %d letters; the path of a socket has %d at most", path, len(path), most)
	}
	return configfile.Absolute("socket", path)
}

// needsRestart says which change to a new configuration takes a restart; empty: none, it can be taken over while running.
func (s *settings) needsRestart(now *settings) string {
	for _, f := range [...]struct{ name, old, new string }{
		{"socket", s.Socket, now.Socket}, {"group", s.Group, now.Group}, {"state", s.State, now.State}, {"metrics", s.Metrics, now.Metrics},
	} {
		if f.old != f.new {
			return fmt.Sprintf("%s changes from %q to %q, which needs a restart", f.name, f.old, f.new)
		}
	}
	return ""
}
