package trouble

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/counters"
)

// Limits is the values from which on a cable is in trouble.
type Limits struct {
	Errors [counters.Effective]float64 // [Counter] an hour; 0: not looked at
	Flaps  float64                     // times that it went within Flapping
	Final  counters.Limit              // of error rates in the end
	Resent counters.Limit              // of error rates behind FEC where the link sends again
}

// LimitsFrom is where the limits that are not set are from.
const LimitsFrom = "infiniband-diags, error_thresholds, an hour; error rates: NVIDIA, InfiniBand Cluster Bring-up Procedure"

// Default is the thresholds of infiniband-diags (ibqueryerrors, /etc/infiniband-diags/error_thresholds), counted
// in an hour. What FEC cannot mend is lost, unless the link sends it again, and counts like symbol errors. A link
// that goes down more than twice within an hour is no host that was started again.
func Default() Limits {
	l := Limits{Flaps: 3, Final: counters.FinalLimit, Resent: counters.ResentLimit}
	for c, v := range map[counters.Counter]float64{
		counters.Symbol: 10, counters.Recovered: 10, counters.Downed: 3, counters.Damaged: 10, counters.Integrity: 10, counters.Overrun: 10, counters.Uncorrected: 10,
	} {
		l.Errors[c] = v
	}
	return l
}

// Names of limits that are not those of counters.
const (
	flapsName  = "flaps"
	berName    = "ber"
	resentName = "ber-resent"
)

// LimitNames is the names that ParseLimits knows, those of counters first, in their order.
func LimitNames() []string {
	var all []string
	for c := range counters.Effective {
		all = append(all, c.String())
	}
	return append(all, flapsName, berName, resentName)
}

// ParseLimits is Default changed by texts such as symbol=100. Of the two error rates the warning begins at half.
func ParseLimits(texts []string) (Limits, error) {
	l := Default()
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return l, fmt.Errorf("limit %q: it is NAME=NUMBER, such as symbol=10", text)
		}
		switch name {
		case flapsName:
			l.Flaps = v
		case berName:
			l.Final = counters.Limit{Warning: v / 2, Bad: v}
		case resentName:
			l.Resent = counters.Limit{Warning: v / 2, Bad: v}
		default:
			at := slices.Index(LimitNames()[:counters.Effective], name)
			if at < 0 {
				return l, fmt.Errorf("limit %q: nothing is called %s; there are %s", text, name, strings.Join(LimitNames(), ", "))
			}
			l.Errors[at] = v
		}
	}
	return l, nil
}
