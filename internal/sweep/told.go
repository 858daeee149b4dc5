package sweep

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Promises is the contract and the endpoints that the engine's tables are proven for; the
// contract is nil where the engine decides.
func (e *Engine) Promises() (*routing.Contract, routing.Scope, error) {
	scope := routing.HCA
	if e.Scope != "" {
		var err error
		if scope, err = routing.ParseScope(e.Scope); err != nil {
			return nil, scope, err
		}
	}
	if e.Contract == "" {
		return nil, scope, nil
	}
	c, err := routing.ParseContract(e.Contract)
	return &c, scope, err
}

// Told is the options of the engine, without its seed.
func (e *Engine) Told() (o engines.Options, err error) {
	words := map[option.Set]string{option.Aim: e.Aim, option.Order: e.Order, option.Prefer: e.Prefer}
	for _, option := range setting.Words() {
		word, known := words[option]
		switch {
		case !known:
			return o, fmt.Errorf("no key for the option %s", option)
		case word == "":
		default:
			if err := setting.Read(option, &o, word); err != nil {
				return o, fmt.Errorf("%s: %w", option, err)
			}
		}
	}
	return o, nil
}

// within reads a number from 1 to a largest; nothing is 0, which stands for the default.
func within(text string, most int) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not from 1 to %d", text, most)
	}
	return n, nil
}

func formatSeed(seed uint64) string { return strconv.FormatUint(seed, 10) }

// inOrder sorts measures in place, in the order of the table of measures, those of one kind as they
// came, and returns them.
func inOrder(all []measures.Measure) []measures.Measure {
	place := map[string]int{}
	for i, k := range measures.Kinds() {
		place[k.Name] = i
	}
	slices.SortStableFunc(all, func(a, b measures.Measure) int { return place[a.Name] - place[b.Name] })
	return all
}
