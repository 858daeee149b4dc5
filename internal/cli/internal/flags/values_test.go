package flags

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/routing"
)

// told is every kind of checked flag.
type told struct {
	contract *routing.Contract
	scope    routing.Scope
	lanes    int
	lmc      int
	order    string
	size     int
}

func declare(o *told) *pflag.FlagSet {
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddContract(f, &o.contract, "any")
	AddScope(f, &o.scope)
	AddVLs(f, &o.lanes, 8, "")
	AddLMC(f, &o.lmc)
	OneOf(f, &o.order, "order", "", "first", "last")
	Parse(f, &o.size, "size", "", func(text string) (int, error) {
		if text != "two" {
			return 1, errors.New("it is two")
		}
		return 2, nil
	}, "")
	return f
}

// A flag has its default, or what is given; what it does not take is a mistake in usage,
// says what it takes, and changes nothing.
func TestCheckedFlags(t *testing.T) {
	any := routing.Any
	defaults := told{nil, routing.HCA, 8, NoLMC, "first", 0}
	for _, c := range []struct {
		args string
		want func(*told)
		err  string
	}{
		{"", func(*told) {}, ""},
		{"--contract any --endpoints ca --vls 15 --lmc 0 --order last --size two",
			func(o *told) { *o = told{&any, routing.Adapters, 15, 0, "last", 2} }, ""},
		{"--contract any --contract=", func(*told) {}, ""},
		{"--size two --size=", func(*told) {}, ""},
		{"--contract some", func(*told) {}, `--contract: a contract is honored, directed, any or single:N with N from 0 to 15, not "some"`},
		{"--endpoints=", func(*told) {}, `--endpoints: endpoints are hca, ca or all, not ""`},
		{"--vls 0", func(*told) {}, "--vls 0: there are 1 to 15 data lanes"},
		{"--vls 16", func(*told) {}, "--vls 16: there are 1 to 15 data lanes"},
		{"--lmc -1", func(*told) {}, ""},
		{"--lmc 8", func(*told) {}, "--lmc 8: it is 0 to 7"},
		{"--order middle", func(*told) {}, `--order: it is first or last, not "middle"`},
		{"--size two --size three", func(o *told) { o.size = 2 }, "--size: it is two"},
	} {
		var got told
		f := declare(&got)
		err := f.Parse(strings.Fields(c.args))
		e := (*exit.Error)(nil)
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%q: %v", c.args, err)
		case c.err != "" && (!errors.As(err, &e) || e.Code != exit.BadUsage || e.Error() != c.err):
			t.Errorf("%q: error %v, want %s", c.args, err, c.err)
		}
		want := defaults
		c.want(&want)
		if (got.contract == nil) != (want.contract == nil) || got.contract != nil && *got.contract != *want.contract {
			t.Errorf("%q: contract %v, want %v", c.args, got.contract, want.contract)
		}
		got.contract, want.contract = nil, nil
		if got != want {
			t.Errorf("%q: %+v, want %+v", c.args, got, want)
		}
	}
}

// What is no number at all is for the error of the flag's type, which names the type.
func TestNoNumber(t *testing.T) {
	var o told
	wrong := (*pflag.InvalidValueError)(nil)
	if err := declare(&o).Parse([]string{"--vls", "many"}); !errors.As(err, &wrong) || wrong.GetFlag().Value.Type() != "int" || o.lanes != 8 {
		t.Errorf("%v, and %d lanes", err, o.lanes)
	}
}

// Only the engine asked for decides which flags are heeded.
func TestFind(t *testing.T) {
	for _, c := range []struct{ args, want, err string }{
		{"", "auto", ""},
		{"--engine updn --roots sw-0", "updn", ""},
		{"--engine updn --seed 3", "", "--seed is for "},
		{"--engine lash --time-budget 5s", "", "--time-budget is for auto"},
		{"--time-budget=-5s", "", "time does not run backwards"},
		{"--paths sssp --lanes first-fit --order shuffled", "sssp+first-fit", ""},
		{"--engine a-lash", "a-lash", ""},
		{"--engine outo", "", `nearest is "auto"`},
		{"--engine nu", "", "and auto for the best proven one"},
		{"--engine=", "", "name an engine"},
	} {
		cmd := &cobra.Command{Run: func(*cobra.Command, []string) {}}
		var o Engine
		o.AddTo(cmd, "auto")
		if err := cmd.ParseFlags(strings.Fields(c.args)); err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		w, err := o.Find()
		if c.err == "" && (err != nil || w.String() != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %s, %v; want %s, %s", c.args, w.String(), err, c.want, c.err)
		}
	}
}
