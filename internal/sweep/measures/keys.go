package measures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/traffic"
)

// What settings may be: the checks of the keys in the table. Each returns the value in the one
// way of writing it by which results are known.

func isPattern(text string) (string, error) {
	_, err := traffic.Parse(text)
	return text, err
}

// RanksAnew and RanksApart begin what ranks: may be besides the placements of package traffic.
const (
	RanksAnew  = "anew:"
	RanksApart = "apart:"
)

// isJob is isPlacement, or a job on hosts drawn anew for every pattern.
func isJob(text string) (string, error) {
	if n, anew := strings.CutPrefix(text, RanksAnew); anew {
		n, err := isCount(n)
		return RanksAnew + n, err
	}
	return isPlacement(text)
}

// isPlacement checks the word and the number; whether there are so many hosts shows when a
// network is there.
func isPlacement(text string) (string, error) {
	if n, apart := strings.CutPrefix(text, RanksApart); apart {
		n, err := isCount(n)
		return RanksApart + n, err
	}
	word, n, numbered := strings.Cut(text, ":")
	if !slices.Contains([]string{"switch", "name", "rail", "guid", "random"}, word) {
		return "", fmt.Errorf("%q is no order of ranks; it is switch, name, rail, guid or random, with :N behind it if need be", text)
	}
	if !numbered {
		return word, nil
	}
	n, err := isCount(n)
	return word + ":" + n, err
}

func isShare(text string) (string, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= 1) {
		return "", fmt.Errorf("%q is no load; loads are above 0 and at most 1", text)
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}

func isPreset(text string) (string, error) {
	_, err := packets.PresetNamed(text)
	return text, err
}

func isTime(text string) (string, error) {
	n, err := strconv.ParseUint(text, 10, 40)
	if err != nil {
		return "", fmt.Errorf("%q is no time; it is a whole number of ns", text)
	}
	return strconv.FormatUint(n, 10), nil
}

func isCount(text string) (string, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1_000_000 {
		return "", fmt.Errorf("%q is no number from 1 to 1000000", text)
	}
	return strconv.Itoa(n), nil
}

func isModel(text string) (string, error) {
	m, err := congestion.ParseModel(text)
	return m.String(), err
}

// oneOf checks a setting that is one of some words.
func oneOf(words ...string) func(text string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("%q is neither %s", text, strings.Join(words, " nor "))
		}
		return text, nil
	}
}

func isLMC(text string) (string, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 7 {
		return "", fmt.Errorf("%q is not from 1 to 7", text)
	}
	return strconv.Itoa(n), nil
}
