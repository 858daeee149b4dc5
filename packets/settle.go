package packets

import "math"

// part is the measurements of one batch.
type part struct {
	n   int64   // packets that arrived
	sum float64 // of their latencies, in ps
}

func (p part) mean() float64 { return p.sum / float64(max(1, p.n)) }

// stationary is the test for the end of the warm-up: of the last eight batches, the
// first four and the last four have means within 5 % of each other, or within two
// standard errors of their difference.
func stationary(parts []part) bool {
	const n = 8
	if len(parts) < n {
		return false
	}
	tail := parts[len(parts)-n:]
	a, va := meanOf(tail[:n/2])
	b, vb := meanOf(tail[n/2:])
	apart := math.Abs(a - b)
	return a > 0 && b > 0 && (apart <= 0.05*b || apart <= 2*math.Sqrt((va+vb)/(n/2)))
}

// meanOf is the mean and the variance of batch means.
func meanOf(parts []part) (mean, variance float64) {
	for _, p := range parts {
		mean += p.mean()
	}
	mean /= float64(len(parts))
	for _, p := range parts {
		variance += (p.mean() - mean) * (p.mean() - mean)
	}
	return mean, variance / float64(max(1, len(parts)-1))
}

// overloaded is the test for a network that is offered more than it delivers: of the last
// eight batches, as many packets, within 2 % or two standard errors, arrived in the first four
// as in the last four, and in all eight less than 95 % of what was offered, by more than chance
// explains.
func overloaded(parts []part, offered float64) bool {
	const n = 8
	if len(parts) < n {
		return false
	}
	first, last := 0.0, 0.0
	tail := parts[len(parts)-n:]
	for i, p := range tail {
		if i < n/2 {
			first += float64(p.n)
		} else {
			last += float64(p.n)
		}
	}
	apart, all := math.Abs(first-last), first+last
	return all < 0.95*n*offered && short(int64(all), all, n*offered, 1) && (apart <= 0.02*last || apart <= 2*math.Sqrt(all))
}

// short reports whether less was accepted than offered by so much more than chance explains for so many
// packets, four standard deviations, and by more than one in 50; both are multiplied by times.
func short(packets int64, accepted, offered, times float64) bool {
	// The number of packets of a Poisson process has a standard deviation of its square root.
	return accepted < offered*(1-times*max(0.02, 4/math.Sqrt(float64(max(1, packets)))))
}

// student is the 97.5 % quantiles of Student's t by degrees of freedom.
var student = [batches]float64{
	1: 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
}

// halfWidth is half the width of the 95 % confidence interval of the mean of some batch means; 0, which says
// nothing, where there are not two.
func halfWidth(parts []part) float64 {
	if len(parts) < 2 {
		return 0
	}
	_, variance := meanOf(parts)
	return student[min(len(parts), batches)-1] * math.Sqrt(variance/float64(len(parts)))
}

// drifts reports whether the mean of the second half of a window is a quarter above that
// of the first, and the difference is significant.
func drifts(a, b []part) bool {
	ma, va := meanOf(a)
	mb, vb := meanOf(b)
	return mb > 1.25*ma && mb-ma > 3*math.Sqrt((va+vb)/float64(len(a)))
}
