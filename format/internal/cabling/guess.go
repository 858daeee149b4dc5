package cabling

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// calledSwitch and calledHost are what people call devices.
var (
	calledSwitch = regexp.MustCompile(`(?i)spine|leaf|core|switch|director|quantum|(^|[-_.])(ib|i)?(sw|tor|agg)[0-9]*([-_.]|$)`)
	calledHost   = regexp.MustCompile(`(?i)node|host|compute|dgx|hgx|gpu|server|srv|login|storage|[ /](mlx[0-9]+_|hca-?[0-9]|ib[ps]?[0-9]|hfi1_|qib[0-9])| U[0-9]+$|mt4[0-9]{3} `)
)

// signs is what tells of which kind a device is, or all devices of a model.
type signs struct {
	hosts, boxes int // names that say it
	ports        int // how many are cabled, or the largest number of one
}

// guessKinds decides what the devices are of which no line says it: by their names; else a
// device with three ports, or with one numbered above two, is a switch, and any other a host.
func (l *List) guessKinds() {
	all := make([]signs, len(l.nodes)) // [node]
	met := make([]int, len(l.nodes))   // [node] ends of cables so far
	for _, c := range l.cables {
		for _, end := range c.ends {
			met[end.Node]++
			all[end.Node].ports = max(all[end.Node].ports, met[end.Node], end.Port.Number)
		}
	}
	models := map[string]*signs{}
	for i := range l.nodes {
		n, s := &l.nodes[i], &all[i]
		name := cmp.Or(n.Name, n.Key)
		switch host, box := calledHost.MatchString(name), calledSwitch.MatchString(name); {
		case host && !box:
			s.hosts++
		case box && !host:
			s.boxes++
		}
		if n.Model == "" {
			continue
		}
		m := models[n.Model]
		if m == nil {
			m = &signs{}
			models[n.Model] = m
		}
		m.hosts, m.boxes, m.ports = m.hosts+s.hosts, m.boxes+s.boxes, max(m.ports, s.ports)
	}
	guessed := [2]int{} // switches, hosts
	first := ""
	for i := range l.nodes {
		n, s := &l.nodes[i], all[i]
		if n.Kind != Unknown {
			continue
		}
		if m := models[n.Model]; m != nil {
			s = *m
		}
		if s.hosts > s.boxes || s.hosts == s.boxes && s.ports <= 2 {
			n.Kind = Adapter
			guessed[1]++
		} else {
			n.Kind = Switch
			guessed[0]++
		}
		if first == "" {
			first = strconv.Quote(cmp.Or(n.Name, n.Key)) + " as " + n.Kind.String()
		}
	}
	if first != "" {
		l.Warn("which devices are switches is guessed by their names and ports: %s and %s, the first %s",
			reading.Count(guessed[0], "switch", "switches"), reading.Count(guessed[1], "adapter", "adapters"), first)
	}
}

// cage is a label of two or three numbers, of which the last is 1 or 2.
var cage = regexp.MustCompile(`^(?:([0-9]{1,3})/)?([0-9]{1,3})/([12])$`)

// number is the number of every port with a cable, [node]: the one that it has; those of labels
// such as 1/3/2 (chip, cage, port) as switches count them, two to a cage; others the next that
// are free, in the natural order of the labels.
func (l *List) number() ([]map[Port]int, error) {
	numbers := make([]map[Port]int, len(l.nodes))
	labels := make([][]Port, len(l.nodes))
	for _, c := range l.cables {
		for _, end := range c.ends {
			if numbers[end.Node] == nil {
				numbers[end.Node] = map[Port]int{}
			}
			numbers[end.Node][end.Port] = end.Port.Number
			if end.Port.Number == 0 {
				labels[end.Node] = append(labels[end.Node], end.Port)
			}
		}
	}
	counted, ordered, first := 0, 0, "" // nodes numbered by cage, and by the order of labels; the first label
	for i := range l.nodes {
		if len(labels[i]) == 0 {
			continue
		}
		slices.SortFunc(labels[i], func(a, b Port) int { return strings.Compare(natural(a.Label), natural(b.Label)) })
		if first == "" {
			first = l.nodes[i].Key + ", " + labels[i][0].Label
		}
		if len(labels[i]) == len(numbers[i]) && byCage(labels[i], numbers[i]) {
			counted++
			continue
		}
		ordered++
		taken := map[int]bool{}
		for _, number := range numbers[i] {
			taken[number] = true
		}
		next := 1
		for _, p := range labels[i] {
			for taken[next] {
				next++
			}
			if next > fabric.MaxPorts {
				return nil, format.Errorf(l.File, l.nodes[i].line, "%s has more ports than InfiniBand numbers, %d", l.nodes[i].Key, fabric.MaxPorts)
			}
			numbers[i][p], taken[next] = next, true
		}
	}
	if first != "" {
		l.Warn("ports have labels and no numbers, the first %s: those of %s are counted two to a cage, those of %s in the order of their labels",
			first, reading.Count(counted, "device", "devices"), reading.Count(ordered, "device", "devices"))
	}
	return numbers, nil
}

// byCage puts the numbers of labels into numbers, if all are cages of one chip; else it says false and changes nothing.
func byCage(labels []Port, numbers map[Port]int) bool {
	found := map[Port]int{}
	chip := ""
	for i, p := range labels {
		m := cage.FindStringSubmatch(p.Label)
		if m == nil || i > 0 && m[1] != chip {
			return false
		}
		chip = m[1]
		in, _ := strconv.Atoi(m[2])
		port, _ := strconv.Atoi(m[3])
		if found[p] = 2*(in-1) + port; found[p] < 1 || found[p] > fabric.MaxPorts {
			return false
		}
	}
	for p, number := range found {
		numbers[p] = number
	}
	return true
}

// natural is a key for a text: the order of keys is that in which people sort texts, with numbers in them by value.
func natural(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if end == i {
			b.WriteByte(text[i])
			i++
			continue
		}
		digits := strings.TrimLeft(text[i:end], "0")
		if pad := 20 - len(digits); pad > 0 {
			b.WriteString(strings.Repeat("0", pad))
		}
		b.WriteString(digits)
		i = end
	}
	return b.String()
}

// words is a port as people write it with its number: 7, P7, Port 7, IB Port 7, IB7, IB1/7.
var words = regexp.MustCompile(`(?i)^(?:p|(?:ib )?port|ib|ib1/|ib 1/|pt)?[ _]*0*([1-9][0-9]{0,4})$`)

// split is a port of an XDR switch as its system calls it: sw3p2.
var split = regexp.MustCompile(`(?i)^sw([0-9]{1,3})p([0-9]{1,2})$`)

// ParsePort reads a port: a number, or a label that has a digit in it.
func ParsePort(text string) (Port, bool) {
	text = strings.TrimSpace(text)
	if m := words.FindStringSubmatch(text); m != nil {
		number, _ := strconv.Atoi(m[1])
		return Port{Number: number}, true
	}
	if m := split.FindStringSubmatch(text); m != nil {
		return Port{Label: m[1] + "/" + m[2]}, true
	}
	label := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "Port"), "port"))
	if !strings.ContainsAny(label, "123456789") || len(label) > 100 {
		return Port{}, false
	}
	return Port{Label: label}, true
}

// perLane is speeds by what one lane carries, inAll rates by what the usual four carry in all, in Gbit/s.
var perLane = map[string]fabric.Speed{
	"2.5": fabric.SDR, "5": fabric.DDR, "10": fabric.QDR, "14": fabric.FDR, "25": fabric.EDR, "50": fabric.HDR, "100": fabric.NDR, "200": fabric.XDR,
}

var inAll = map[string]fabric.Rate{
	"10": {Width: 4, Speed: fabric.SDR}, "20": {Width: 4, Speed: fabric.DDR}, "40": {Width: 4, Speed: fabric.QDR}, "56": {Width: 4, Speed: fabric.FDR},
	"100": {Width: 4, Speed: fabric.EDR}, "200": {Width: 4, Speed: fabric.HDR}, "400": {Width: 4, Speed: fabric.NDR}, "800": {Width: 4, Speed: fabric.XDR},
}

// LaneSpeed is the speed of lanes of so many Gbit/s, or by its name: 25, 14.0625, EDR.
func LaneSpeed(text string) (fabric.Speed, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if s, ok := perLane[strings.TrimSuffix(text, "G")]; ok {
		return s, true
	}
	if text = strings.Replace(text, "_", "", 1); text == string(fabric.FDR10) {
		return fabric.FDR10, true
	}
	for _, s := range perLane {
		if text == string(s) {
			return s, true
		}
	}
	return "", false
}

// gigabits is a rate of a cable as people write it: 200, 200G, 200Gb/s, 200 Gbps, 200000 (Mbit/s).
var gigabits = regexp.MustCompile(`(?i)^0*([1-9][0-9]*?)(?:000| ?(?:g|gb|gbe|gbps|gb/s|gbit/s|gig))?$`)

// ParseRate reads the rate of a cable as people write it: 4xHDR, HDR, HDR100, 200G, 200000.
func ParseRate(text string) (fabric.Rate, bool) {
	text = strings.TrimSpace(text)
	if r, err := fabric.ParseRate(text); err == nil && r.Known() {
		return r, true
	}
	if s, ok := LaneSpeed(text); ok && !strings.ContainsAny(text[:1], "0123456789") {
		return fabric.Rate{Width: 4, Speed: s}, true
	}
	switch strings.ToUpper(text) {
	case "HDR100":
		return fabric.Rate{Width: 2, Speed: fabric.HDR}, true
	case "HDR200":
		return fabric.Rate{Width: 4, Speed: fabric.HDR}, true
	case "NDR200":
		return fabric.Rate{Width: 2, Speed: fabric.NDR}, true
	case "NDR400":
		return fabric.Rate{Width: 4, Speed: fabric.NDR}, true
	case "XDR800":
		return fabric.Rate{Width: 4, Speed: fabric.XDR}, true
	}
	if m := gigabits.FindStringSubmatch(text); m != nil {
		r, ok := inAll[m[1]]
		return r, ok
	}
	return fabric.Rate{}, false
}
