package packets

import "math/bits"

// histogram counts times in classes of 1/32 of a power of two, so that quantiles are
// exact within 3 %.
type histogram struct {
	counts [64 * 32]int64
	n      int64
	max    Time
}

// classOf is the class of a time: by its first six binary digits, and by how many follow.
func classOf(t Time) int {
	if t < 64 {
		return int(max(0, t))
	}
	shift := bits.Len64(uint64(t)) - 6
	return shift*32 + int(t>>shift)
}

// classEnd is the largest time of a class.
func classEnd(class int) Time {
	if class < 64 {
		return Time(class)
	}
	shift := class/32 - 1
	return Time(class-shift*32+1)<<shift - 1
}

// add counts a time.
func (h *histogram) add(t Time) {
	h.counts[classOf(t)]++
	h.n++
	h.max = max(h.max, t)
}

// join adds the counts of another histogram.
func (h *histogram) join(other *histogram) {
	for class, n := range &other.counts {
		h.counts[class] += n
	}
	h.n += other.n
	h.max = max(h.max, other.max)
}

// quantile is a time that this share of the packets did not exceed.
func (h *histogram) quantile(share float64) Time {
	want := int64(share*float64(h.n) + 0.5)
	for class, n := range &h.counts {
		if want -= n; want <= 0 && n > 0 {
			return min(classEnd(class), h.max)
		}
	}
	return h.max
}

// Class counts the packets whose latency is at most End and above the End of the class
// before.
type Class struct {
	End     Time
	Packets int64
}

func (h *histogram) classes() []Class {
	var list []Class
	for class, n := range &h.counts {
		if n > 0 {
			list = append(list, Class{End: classEnd(class), Packets: n})
		}
	}
	return list
}
