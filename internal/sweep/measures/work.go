package measures

import (
	"math"
	"strconv"
)

// What the time of a measure grows with, by which campaigns foretell how long they take.

// Work is what the time of a measure grows with, on a network of so many hosts and so many
// entries of forwarding tables.
func (k *Kind) Work(m *Measure, hosts, entries int) float64 {
	h, e := float64(max(1, hosts)), float64(max(1, entries))
	if k.work == nil {
		return h
	}
	return k.work(m, h, e)
}

// times is work for each host, as often as a setting says.
func times(key string) func(*Measure, float64, float64) float64 {
	return func(m *Measure, hosts, _ float64) float64 { return hosts * m.number(key) }
}

func ofEntries(m *Measure, _, entries float64) float64 { return m.number("repeats") * entries }

func ofLoad(m *Measure, hosts, _ float64) float64 {
	return hosts * m.number("load") * timeOf(m.number("time"))
}

func ofTime(m *Measure, hosts, _ float64) float64 { return hosts * timeOf(m.number("time")) }

func ofWindow(m *Measure, hosts, _ float64) float64 {
	return hosts * m.number("load") * m.number("window") * nsOfWindow
}

// number is a setting that is a number; 1 where it is none, or none above 0.
func (m *Measure) number(key string) float64 {
	v, err := strconv.ParseFloat(m.Setting(key), 64)
	if err != nil || v <= 0 || math.IsNaN(v) {
		return 1
	}
	return v
}

// nsOfWindow is how long on the usual links as many packets take as there are in a time unit
// of a window, which is as long again until it begins: packets have 32 time units there.
const nsOfWindow = 2. / 32 * usualTime / 4000

// usualTime is what packets are measured for unless a SPEC says how long, in ns: 4,000 of
// 4 KiB at 200 Gb/s.
const usualTime = 680_000

// timeOf is how long packets are measured for, of which 1 is the least that a SPEC says.
func timeOf(ns float64) float64 {
	if ns <= 1 {
		return usualTime
	}
	return ns
}

// whole is a setting that is a whole number.
func (m *Measure) whole(key string) int {
	n, _ := strconv.Atoi(m.Setting(key)) // as it was checked
	return n
}
