package packets

import "math"

// part is the measurements of one batch.
type part struct {
	n   int64
	sum float64
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
// as in the last four, and in all of them less than 95 % of what was offered, and by more than chance explains.
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

// short says that so many packets are fewer than offered, and by so many times more than
// chance explains, or one in 50.
func short(packets int64, accepted, offered, times float64) bool {
	// The number of packets of a Poisson process has a standard deviation of its square root.
	return accepted < offered*(1-times*max(0.02, 4/math.Sqrt(float64(max(1, packets)))))
}

// student is the 97.5 % quantile of Student's t with batches-1 degrees of freedom.
const student = 2.093

// drifts says whether the mean of the second half of a window is a quarter above that
// of the first, and the difference is significant.
func drifts(a, b []part) bool {
	ma, va := meanOf(a)
	mb, vb := meanOf(b)
	return mb > 1.25*ma && mb-ma > 3*math.Sqrt((va+vb)/float64(len(a)))
}
