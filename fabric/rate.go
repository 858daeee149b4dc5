package fabric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Speed is the signalling generation of a lane, as InfiniBand tools print it. A speed
// this package does not know is kept as written, and its rate is unknown.
type Speed string

// The speeds of InfiniBand, slowest first.
const (
	SDR   Speed = "SDR"
	DDR   Speed = "DDR"
	QDR   Speed = "QDR"
	FDR10 Speed = "FDR10"
	FDR   Speed = "FDR"
	EDR   Speed = "EDR"
	HDR   Speed = "HDR"
	NDR   Speed = "NDR"
	XDR   Speed = "XDR"
)

var speeds = []Speed{SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR}

// laneMbps is the data rate of one lane in Mbit/s, after line coding (8b/10b up
// to QDR, 64b/66b from FDR10 on).
var laneMbps = map[Speed]int{
	SDR: 2000, DDR: 4000, QDR: 8000, FDR10: 10000, FDR: 13636,
	EDR: 25000, HDR: 50000, NDR: 100000, XDR: 200000,
}

// Rate is the speed of a link: lanes × signalling. The zero Rate is unknown.
type Rate struct {
	Width uint8 // physical lanes: 1, 2, 4, 8 or 12; zero: not known
	Speed Speed // empty: not known
}

// Mbps is the data rate of the link in Mbit/s, zero when not known.
func (r Rate) Mbps() int { return int(r.Width) * laneMbps[r.Speed] }

// Known reports whether the data rate of the link is known.
func (r Rate) Known() bool { return r.Mbps() > 0 }

func (r Rate) String() string {
	switch {
	case r == Rate{}:
		return "unknown"
	case r.Width == 0:
		return string(r.Speed)
	}
	return strconv.Itoa(int(r.Width)) + "x" + string(r.Speed)
}

// ParseRate reads "4xNDR". Malformed text is an error; a well-formed rate of unknown
// speed, which is a word of letters, digits and - _ + . of up to 16 bytes, is not.
func ParseRate(s string) (Rate, error) {
	width, speed, ok := strings.Cut(s, "x")
	n, err := strconv.ParseUint(width, 10, 8)
	if !ok || err != nil || n == 0 || speed == "" || len(speed) > 16 || strings.ContainsFunc(speed, notInSpeed) {
		return Rate{}, fmt.Errorf("%q is no link rate like 4xHDR", s)
	}
	return Rate{Width: uint8(n), Speed: knownSpeed(speed)}, nil
}

func notInSpeed(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_' && r != '+' && r != '.'
}

// knownSpeed returns the constant for a speed, so that a rate does not keep the whole
// line of text in memory.
func knownSpeed(s string) Speed {
	if i := slices.Index(speeds, Speed(s)); i >= 0 {
		return speeds[i]
	}
	return Speed(strings.Clone(s))
}
