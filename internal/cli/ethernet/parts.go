package ethernet

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/spell"
)

// devicesOf is the devices of a name, or all that fit a pattern.
func devicesOf(c *ethernet.Cabling, name string) ([]ethernet.DeviceID, error) {
	if d := c.Device(name); d != ethernet.None {
		return []ethernet.DeviceID{d}, nil
	}
	var found []ethernet.DeviceID
	for d, n := range c.Names {
		if names.IsPattern(name) && names.Fits(n, name) {
			found = append(found, ethernet.DeviceID(d))
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case names.IsPattern(name):
		return nil, fmt.Errorf("no device fits %q (* is any text); names here look like %q", name, c.Names[0])
	}
	return nil, fmt.Errorf("no device is called %q%s", name, spell.Hint(name, c.Names))
}

// cablesOf is a direction of each cable at NAME:INTERFACE, of which either may be a pattern. Names of devices
// and of interfaces may have colons in them.
func cablesOf(c *ethernet.Cabling, text string) ([]ethernet.LinkID, error) {
	if !strings.Contains(text, ":") {
		return nil, fmt.Errorf("%q names no interface; give a device and one of its interfaces, as in %s", text, example(c))
	}
	var why error // of the last colon that follows a device's name; else of the first
	for at, letter := range text {
		if letter != ':' {
			continue
		}
		devices, err := devicesOf(c, text[:at])
		if err != nil {
			if why == nil {
				why = err
			}
			continue
		}
		found := cablesAt(c, devices, text[at+1:])
		if len(found) > 0 {
			return found, nil
		}
		why = fmt.Errorf("no cable to another device is at an interface %q of %s%s", text[at+1:], text[:at], spell.Hint(text[at+1:], interfaces(c, devices[0])))
	}
	return nil, why
}

// cablesAt is a direction of each cable at interfaces of some devices that fit a pattern; of a cable between two of them once.
func cablesAt(c *ethernet.Cabling, devices []ethernet.DeviceID, pattern string) (found []ethernet.LinkID) {
	seen := map[ethernet.LinkID]bool{}
	for _, d := range devices {
		for l, end := c.LinksFrom(d); l < end; l++ {
			if names.Fits(c.Links[l].FromInterface, pattern) && !seen[c.Reverse[l]] {
				seen[l] = true
				found = append(found, l)
			}
		}
	}
	return found
}

// interfaces is those of a device with a cable to another, for hints.
func interfaces(c *ethernet.Cabling, d ethernet.DeviceID) (list []string) {
	for l, end := c.LinksFrom(d); l < end; l++ {
		list = append(list, c.Links[l].FromInterface)
	}
	return list
}

// example is a cable as people write it.
func example(c *ethernet.Cabling) string {
	if len(c.Links) == 0 {
		return "leaf1:swp1"
	}
	e := c.End(0)
	return e.Device + ":" + e.Interface
}
