package topology

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
)

// form is a pointer to a family's struct, whose fields are its parameters.
//
// Both ways to a network pass complete: Parse splits a spec into values by key and fills in a
// new struct; Build of a struct (built) takes what its fields hold. complete has the struct
// declare its parameters one after the other to a params, which sets the fields, and checks
// the size of the network (run); lay makes the network.
type form interface {
	Family
	// declare names every parameter to p, in order, and says how large the network is.
	// Each parameter has its value when declare goes on to the next, so that defaults and
	// ranges may depend on those before. After a fault, further parameters are only named:
	// declare has to cope with any values, but its result is not used.
	declare(p *params) size
	// lay adds the switches, hosts and cables; every parameter has its value.
	lay(l *layout)
}

// size is the size of a network, counted before it is built. The counts may be
// saturated, see product.
type size struct {
	switches, hosts int
	ports           int // of the largest switch; zero: not known yet, but within the limit
}

// saturated is where counts stop: far above every limit, and small enough that two of
// them can be multiplied.
const saturated = math.MaxInt32

// product multiplies positive numbers, up to saturated.
func product(factors ...int) int {
	n := 1
	for _, f := range factors {
		n = min(n*min(f, saturated), saturated)
	}
	return n
}

// maxList is the longest list: no network of sixteen dimensions above 1 fits.
const maxList = 16

// params reads and checks the parameters of one family.
type params struct {
	given map[string]string // values by key, of a spec; where there is none, of the struct's fields that are set
	seen  []param           // declared so far
	fault *fault            // the first one found

	withoutLIDs bool // the network may have more switches and hosts than there are LIDs
}

// param is a parameter as it was declared.
type param struct {
	key, meaning string
	text         string   // the value in use
	choices      []int    // the only numbers allowed, ascending; nil: any in a range
	words        []string // the only words allowed
}

// fault is a parameter value that does not work, or a network that is too large.
type fault struct {
	key  string // empty: the network as a whole
	side int    // -1: too small; +1: too large; 0: neither, such as not a number
	msg  string
	lids bool // there are too few LIDs for it
}

// keys lists the keys of all parameters, in order.
func (p *params) keys() []string {
	keys := make([]string, len(p.seen))
	for i := range p.seen {
		keys[i] = p.seen[i].key
	}
	return keys
}

// refuse records a fault, if it is the first.
func (p *params) refuse(key string, side int, format string, args ...any) {
	if p.fault == nil {
		p.fault = &fault{key: key, side: side, msg: fmt.Sprintf(format, args...)}
	}
}

// number declares a parameter that is a number from lo (at least 1) to hi, and sets v to what
// is given. If nothing is, v keeps its value, and where that is zero gets byDefault; where
// this is zero too, the parameter must be given. The other kinds of parameters likewise.
func (p *params) number(key string, v *int, byDefault, lo, hi int, meaning string) {
	text, given := p.given[key]
	switch {
	case given:
		*v = p.atoi(key, text, text, "a whole number")
	case *v != 0:
		text = strconv.Itoa(*v)
		p.record(key, text)
	case byDefault == 0:
		p.refuse(key, 0, "%s (%s) is missing: it is %d to %d", key, meaning, lo, hi)
	default:
		*v = byDefault
	}
	p.seen = append(p.seen, param{key: key, meaning: meaning, text: strconv.Itoa(*v)})
	if text == "" {
		text = strconv.Itoa(*v)
	}
	if *v < lo {
		p.refuse(key, -1, "%s=%s is too small: it is %d to %d", key, text, lo, hi)
	} else if *v > hi {
		p.refuse(key, +1, "%s=%s is too large: it is %d to %d", key, text, lo, hi)
	}
}

// upTo declares a parameter that is a number from 0 to hi. The field has one more, so that
// its zero means that none is given; then it is byDefault.
func (p *params) upTo(key string, v *int, byDefault, hi int, meaning string) {
	text, given := p.given[key]
	switch {
	case given:
		*v = 1 + p.atoi(key, text, text, "a whole number")
	case *v != 0:
		text = strconv.Itoa(*v - 1)
		p.record(key, text)
	default:
		*v = 1 + byDefault
		text = strconv.Itoa(byDefault)
	}
	p.seen = append(p.seen, param{key: key, meaning: meaning, text: strconv.Itoa(*v - 1)})
	if *v > hi+1 {
		p.refuse(key, +1, "%s=%s is too large: it is 0 to %d", key, text, hi)
	}
}

// numbers declares a parameter that is a list of 1 to maxList numbers, each from 1 to
// hi. If it is not given it is byDefault; nil: it must be given.
func (p *params) numbers(key string, v *[]int, byDefault []int, hi int, meaning string) {
	text, given := p.given[key]
	switch {
	case given && strings.Count(text, "x") >= maxList:
		p.refuse(key, 0, "%s has %d numbers; it may have 1 to %d", key, strings.Count(text, "x")+1, maxList)
		*v = nil
	case given:
		*v = nil
		for part := range strings.SplitSeq(text, "x") {
			*v = append(*v, p.atoi(key, text, part, "whole numbers with x between them"))
		}
	case len(*v) > maxList:
		p.refuse(key, 0, "%s has %d numbers; it may have 1 to %d", key, len(*v), maxList)
	case len(*v) == 0 && byDefault != nil:
		*v = byDefault
		text = sizesText(*v)
	case len(*v) == 0:
		p.refuse(key, 0, "%s (%s) is missing: it is numbers from 1 to %d with x between them", key, meaning, hi)
	default:
		text = sizesText(*v)
		p.record(key, text)
	}
	p.seen = append(p.seen, param{key: key, meaning: meaning, text: sizesText(*v)})
	for _, n := range *v {
		if n < 1 {
			p.refuse(key, -1, "%s=%s has a number that is too small: each is 1 to %d", key, text, hi)
		} else if n > hi {
			p.refuse(key, +1, "%s=%s has a number that is too large: each is 1 to %d", key, text, hi)
		}
	}
}

// choice declares a parameter that is one of some ascending numbers. If it is not given
// it is byDefault; zero: it must be given. why says what is wrong with any other
// number, such as "k-1 is no prime power".
func (p *params) choice(key string, v *int, byDefault int, choices []int, why, meaning string) {
	text, given := p.given[key]
	switch {
	case given:
		*v = p.atoi(key, text, text, "a whole number")
	case *v != 0:
		p.record(key, strconv.Itoa(*v))
	case byDefault == 0:
		p.refuse(key, 0, "%s (%s) is missing: it is one of %s", key, meaning, listedNumbers(choices))
	default:
		*v = byDefault
	}
	p.seen = append(p.seen, param{key: key, meaning: meaning, text: strconv.Itoa(*v), choices: choices})
	if _, ok := slices.BinarySearch(choices, *v); !ok {
		p.refuse(key, 0, "%s=%d does not work: %s", key, *v, why)
	}
}

// listedNumbers writes the first few of many numbers, and the last.
func listedNumbers(list []int) string {
	const most = 8
	parts := make([]string, 0, most+2)
	for i, n := range list {
		if i < most || i == len(list)-1 {
			parts = append(parts, strconv.Itoa(n))
		} else if i == most {
			parts = append(parts, "…")
		}
	}
	return strings.Join(parts, ", ")
}

// word declares a parameter that is one of some words, by default the first.
func (p *params) word(key string, v *string, words []string, meaning string) {
	if text, given := p.given[key]; given {
		*v = text
	}
	if *v == "" {
		*v = words[0]
	}
	p.record(key, *v)
	p.seen = append(p.seen, param{key: key, meaning: meaning, text: *v, words: words})
	if !slices.Contains(words, *v) {
		p.refuse(key, 0, "%s=%q is none of %s", key, *v, strings.Join(words, ", "))
	}
}

// seed declares the parameter seed, which starts a random stream: any 64 bits, by default 0.
func (p *params) seed(v *uint64, meaning string) {
	const key = "seed"
	if text, given := p.given[key]; given {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			p.refuse(key, 0, "%s=%q is not a whole number from 0 to %d", key, text, uint64(math.MaxUint64))
		}
		*v = n
	}
	p.seen = append(p.seen, param{key: key, meaning: meaning, text: strconv.FormatUint(*v, 10)})
	p.record(key, strconv.FormatUint(*v, 10))
}

// record notes the value of a struct's field as if a spec had given it.
func (p *params) record(key, text string) {
	if p.given == nil {
		p.given = map[string]string{}
	}
	p.given[key] = text
}

// atoi reads one number in the text of a key; want describes a valid text. Numbers
// above saturated become saturated.
func (p *params) atoi(key, text, digits, want string) int {
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			digits = ""
			break
		}
	}
	if digits == "" {
		p.refuse(key, 0, "%s=%q is not %s", key, text, want)
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return saturated
	}
	return int(n)
}

// sizesText is numbers as specs have them: 4x4x2.
func sizesText(list []int) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteByte('x')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// built fills in the defaults of a struct, refuses what does not work, and makes the
// fabric.
func built(f form) (*fabric.Fabric, error) {
	if err := rowOf(f).complete(f, nil); err != nil {
		return nil, err
	}
	var l layout
	f.lay(&l)
	return l.b.Build()
}

// complete fills in f from the given values and defaults, and refuses what does not
// work. With a nil given it takes the values of f's fields.
func (r *row) complete(f form, given map[string]string) error {
	p := params{given: given}
	bad := p.run(f)
	if bad == nil {
		return nil
	}
	hint := r.nearestWorking(p.given, bad)
	if hint == "" {
		hint = "an example that works: " + r.example
	} else {
		hint = "nearest that works: " + hint
	}
	err := fmt.Errorf("%s: %s; %s", r.name, bad.msg, hint)
	if bad.lids {
		return &tooManyLIDs{err, func() (*fabric.Fabric, error) { return r.withoutLIDs(p.given) }}
	}
	return err
}

// mostWithoutLIDs is how many switches and hosts a network has at most that is made without LIDs: above, memory would not do.
const mostWithoutLIDs = 1 << 17

// tooManyLIDs refuses a network that is in want of LIDs only.
type tooManyLIDs struct {
	error
	build func() (*fabric.Fabric, error)
}

// WithoutLIDs makes the fabric nonetheless, for those who do not go by LIDs: see the package's comment.
func (e *tooManyLIDs) WithoutLIDs() (*fabric.Fabric, error) { return e.build() }

// withoutLIDs makes the fabric of given values, in which nothing has a LID.
func (r *row) withoutLIDs(given map[string]string) (*fabric.Fabric, error) {
	f := r.new()
	p := params{given: given, withoutLIDs: true}
	if bad := p.run(f); bad != nil {
		return nil, fmt.Errorf("%s: %s", r.name, bad.msg)
	}
	l := layout{b: fabric.Builder{WithoutLIDs: true}}
	f.lay(&l)
	return l.b.Build()
}

// run declares the parameters of f and checks its size against the limits of
// InfiniBand.
func (p *params) run(f form) *fault {
	s := f.declare(p)
	if p.fault != nil {
		return p.fault
	}
	switch lids := s.switches + s.hosts; {
	case p.withoutLIDs && lids > mostWithoutLIDs:
		p.refuse("", +1, "%s makes %s switches and hosts; networks of Ethernet are computed with up to %d", p.spelled(), counted(lids), mostWithoutLIDs)
	case !p.withoutLIDs && lids > int(fabric.MaxLID):
		p.refuse("", +1, "%s makes %s LIDs, one for each switch and each host; InfiniBand has %d", p.spelled(), counted(lids), fabric.MaxLID)
		p.fault.lids = true
	}
	if s.ports > fabric.MaxPorts {
		p.refuse("", +1, "%s makes a switch with %s ports; InfiniBand numbers at most %d", p.spelled(), counted(s.ports), fabric.MaxPorts)
	}
	return p.fault
}

// counted is a number of size, which may be saturated.
func counted(n int) string {
	if n >= saturated {
		return "over two billion"
	}
	return strconv.Itoa(n)
}

// spelled writes all parameters, each with its key.
func (p *params) spelled() string {
	parts := make([]string, len(p.seen))
	for i, s := range p.seen {
		parts[i] = s.key + "=" + s.text
	}
	return strings.Join(parts, ",")
}

// specOf writes the spec of f, whose type must have a row.
func specOf(f form) string {
	var p params
	f.declare(&p)
	r := rowOf(f)
	var b strings.Builder
	b.WriteString(r.name)
	between := ":"
	for _, s := range p.seen {
		b.WriteString(between)
		if s.key != r.bare || between != ":" {
			b.WriteString(s.key + "=")
		}
		between = ","
		b.WriteString(s.text)
	}
	return b.String()
}
