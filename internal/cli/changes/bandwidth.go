package changes

import (
	"context"
	"fmt"
	"math"

	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
)

// showBandwidths prints the tables of tiers and jobs behind a page of weft diff, what-if or drain.
// One tier alone is not shown: it says what the line about bandwidth says.
func showBandwidths(c *console.Console, b *result.Bandwidths) {
	share := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return fmt.Sprintf("%.3f", *x)
	}
	change := func(before, after *float64) string {
		if before == nil || after == nil {
			return "–"
		}
		return fmt.Sprintf("%+.1f %%", math.Round(1000*(*after / *before)-1000)/10+0) // +0: no -0.0
	}
	if len(b.Tiers) > 1 {
		t := c.NewTable("tier", "channels: before", "after", "leaves its flows: before", "after", "change")
		for _, x := range b.Tiers {
			t.Row(fmt.Sprintf("%d → %d", x.From, x.To), x.ChannelsBefore, x.ChannelsAfter, share(x.Before), share(x.After), change(x.Before, x.After))
		}
		t.Render()
	}
	if len(b.Jobs) > 0 {
		t := c.NewTable("job", "endpoints", "that stay", "bandwidth: before", "after", "change")
		for _, x := range b.Jobs {
			t.Row(x.Name, x.Ranks, x.Stay, share(x.Before), share(x.After), change(x.Before, x.After))
		}
		t.Render()
	}
}

// bandwidthsOf measures the bandwidth before and after a change, in all and of each job, which it
// adds to the change.
func bandwidthsOf(ctx context.Context, c bandwidths.Change, jobs []flags.Allocation) (result.Bandwidths, error) {
	var names []string
	for _, a := range jobs {
		names, c.Jobs = append(names, a.Name), append(c.Jobs, a.Placement)
	}
	m, err := c.Bandwidths(ctx)
	if err != nil {
		return result.Bandwidths{}, err
	}
	return outputs.Bandwidths(m, names), nil
}
