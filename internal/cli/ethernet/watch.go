package ethernet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/ethernet/collect"
	"github.com/weft-fabric/weft/internal/ethernet/pauses"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/watch"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// ReadLook reads a folder for weft watch, with what ports count of pauses, and goes on where something is missing.
func ReadLook(ctx context.Context, dir string, s watch.EthernetSettings) (*watch.EthernetSnapshot, error) {
	n, err := folder.Read(ctx, dir, folder.Options{VRF: s.VRF, Partial: true, Lossless: s.Lossless})
	if err != nil {
		return nil, err
	}
	look := &watch.EthernetSnapshot{Network: n}
	var broken []string
	if look.Counters, broken, err = readCounters(ctx, dir); err != nil {
		return nil, err
	}
	n.Gaps = append(n.Gaps, broken...)
	if look.Silent, err = silentBy(ctx, filepath.Join(dir, collect.Name)); err != nil {
		return nil, err
	}
	if s.Pins != "" {
		in, err := reading.Open(ctx, s.Pins, nil)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		if look.Pins, err = readWays(in, s.Pins); err != nil {
			return nil, err
		}
	}
	return look, nil
}

// silentBy is the devices that did not answer weft collect, by its record; without one none is known.
func silentBy(ctx context.Context, name string) ([]string, error) {
	if found, err := filepath.Glob(name + "*"); err != nil || len(found) == 0 {
		return nil, err
	} else {
		name = found[0] // packed, in a look that is kept
	}
	in, err := reading.OpenFound(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := reading.ReadAll(in, name, reading.MaxSize)
	if err != nil {
		return nil, err
	}
	var records []result.CollectDevice
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, fmt.Errorf("%s: %w", reading.Printable(name), err)
	}
	var all []string
	for i := range records {
		if records[i].Error != "" {
			all = append(all, reading.Printable(records[i].Device))
		}
	}
	return all, nil
}

// counterFile is what a file with counters is called.
var counterFile = named("pfc", "pfcwd")

// readCounters reads what the devices of a folder count of pauses, and says which files cannot be read: routes are judged without.
func readCounters(ctx context.Context, dir string) (all map[string][]pauses.Counter, broken []string, err error) {
	all = map[string][]pauses.Counter{}
	err = eachFile(ctx, dir, counterFile, func(r io.Reader, path, device, kind string) error {
		read := pauses.Read
		if kind == "pfcwd" {
			read = pauses.ReadWatchdog
		}
		found, err := read(r, path)
		if err != nil && ctx.Err() == nil {
			broken = append(broken, err.Error())
			return nil
		}
		all[device] = pauses.Merge(all[device], found)
		return err
	})
	return all, broken, err
}

// readWays is the pins of a file with their ways, by name: devices that are not there any more are for alarms to tell.
func readWays(r io.Reader, file string) ([]watch.EthernetPin, error) {
	var all []watch.EthernetPin
	err := eachPin(r, file, func(_ *reading.CSV, prefix netip.Prefix, way []string) error {
		all = append(all, watch.EthernetPin{Prefix: prefix, Way: slices.DeleteFunc(slices.Clone(way), func(name string) bool { return name == "" })})
		return nil
	})
	return all, err
}

// LookPage is a look at a lossless Ethernet network for people.
func LookPage(a *console.Console, l *result.WatchLook) *console.Page {
	p, e := a.NewPage(), l.Ethernet
	p.Fact("look", "%d, %s: %s, %s, %s with hosts", l.Number, l.At.Local().Format(time.DateTime), words.Plural(l.Switches, "device"), words.Plural(l.Cables, "cable"), words.Counted(e.Prefixes, "prefix", "prefixes"))
	verdict := l.Verdict
	if e.Nothing != "" {
		verdict += ": " + e.Nothing
	}
	p.Fact("verdict", "%s (endpoints %s)", verdict, l.Endpoints)
	if len(e.Cycle) > 0 {
		p.Fact("", "%s", namedLoop(a, e.Cycle))
	}
	p.Fact("routes", "%s pairs of prefixes with hosts, %s without a sure route; %s next hops", words.Thousands(l.Pairs), words.Thousands(l.CutOff), words.Thousands(e.NextHops))
	if e.Pins > 0 {
		p.Fact("pins", "%s, %s not in force", words.Thousands(e.Pins), words.Thousands(len(e.Fallbacks)))
	}
	p.Fact("changed", "%s", ChangedText(e.Changed))
	if len(e.Paused) > 0 {
		p.Fact("paused", "%s", firstLines(list.Of(e.Paused, pausedText)))
	}
	if len(l.Alarms) == 0 {
		p.Fact("alarms", "none")
	}
	for i, alarm := range l.Alarms {
		label := ""
		if i == 0 {
			label = "alarms"
		}
		p.Fact(label, "%s: %s\n  %s", alarm.Kind, alarm.What, alarm.Do)
	}
	p.Fact("time", "gather %s, read %s, judge %s, compare %s", words.Seconds(l.Seconds.Gather), words.Seconds(l.Seconds.Read), words.Seconds(l.Seconds.Judge), words.Seconds(l.Seconds.Compare))
	return p
}

func pausedText(p result.PausedPort) string {
	text := fmt.Sprintf("%s, %s, priority %d: %s received, %s sent", p.Device, p.Interface, p.Priority, words.Counted(p.Received, "pause", "pauses"), words.Thousands(p.Sent))
	if p.Dropped > 0 {
		text += ", " + words.Counted(p.Dropped, "packet", "packets") + " dropped"
	}
	if p.InStorm {
		text += "; a storm goes on"
	}
	if p.Prefixes > 0 {
		text += fmt.Sprintf("; packets to %s go by it", words.Counted(p.Prefixes, "prefix", "prefixes"))
	}
	if p.Circle {
		text += "; pauses circle: " + strings.Join(p.Way, ", ")
	} else if len(p.Way) > 0 {
		text += "; pauses come by " + strings.Join(p.Way, ", ")
	}
	return text
}

// ChangedText is what changed since the look before, in few words.
func ChangedText(c *result.LookEthernetChanges) string {
	if c == nil {
		return "not known: there is no look before"
	}
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{len(c.DevicesGone), "device gone", "devices gone"}, {len(c.DevicesNew), "device new", "devices new"}, {len(c.CablesGone), "cable gone", "cables gone"}, {len(c.CablesNew), "cable new", "cables new"},
		{len(c.Recabled), "interface leads elsewhere", "interfaces lead elsewhere"}, {c.Entries, "set of next hops", "sets of next hops"},
		{len(c.Lossless), "direction with other lossless priorities", "directions with other lossless priorities"},
	} {
		if p.n > 0 {
			parts = append(parts, words.Counted(p.n, p.one, p.many))
		}
	}
	if len(parts) == 0 {
		return "nothing that routes"
	}
	return strings.Join(parts, ", ")
}

// DiffLooks compares two looks, whose files are in folders.
func DiffLooks(ctx context.Context, a *console.Console, names, folders [2]string, s watch.EthernetSettings, asJSON bool) error {
	o := &networkFlags{vrf: s.VRF, partial: true}
	for _, p := range s.Lossless {
		o.priorities = append(o.priorities, uint(p))
	}
	return diff(ctx, a, o, names, folders, asJSON)
}
