package claims

import "fmt"

// By how much a result may be off a paper's words and still agree. They go by the words
// alone and are the same for all figures; Criteria is the table of them for readers.
const (
	// Sampling is what a comparison of two samples may be off by, a fraction.
	Sampling = 0.01
	// Significant is from which fraction on a gain counts as significant.
	Significant = 0.03
	// Points is how far a gain in percent may be off the paper's, in hundredths.
	Points = 0.03
	// Nearly is up to which fraction values are almost the same.
	Nearly = 0.05
	// Alike is up to which fraction values are similar.
	Alike = 0.1
	// About is the factor within which "about n", "n times" and "twice" are met.
	About = 1.2
	// Magnitude is the factor within which an order of magnitude is met.
	Magnitude = 3.0
	// Half is below which part of another a difference is far smaller.
	Half = 0.5
	// Many is from which share of the networks on they are many.
	Many = 0.25
	// Timing is the factor within which a time in a simulation is met.
	Timing = 2.0
)

// Criterion says what a paper's words are taken to ask for.
type Criterion struct{ Words, Asks string }

// Criteria is the criteria in the order in which to show them.
func Criteria() []Criterion {
	percent := func(f float64) string { return fmt.Sprintf("%.0f %%", f*100) }
	return []Criterion{
		{"better, worse, best, poorest, fewer, above, below", "at every place measured, bandwidths off by up to " + percent(Sampling) + " counting as equal, and clearly so at one at least"},
		{"significantly", "by " + percent(Significant) + " or more at every place measured"},
		{"the same of throughputs (TPDS 2006), and of mean numbers of lanes", fmt.Sprintf("the difference is larger than its error, which stands behind ±: twice the standard error over the networks, and of throughputs a step of the grid (%g) over the root of their number at the least. What is nearer to a limit than its error is open", step)},
		{"a gain in percent", fmt.Sprintf("within %.0f points of the paper's", Points*100)},
		{"almost identical, nearly the same, very similar, a minimal increase", "within " + percent(Nearly)},
		{"similar, comparable, relatively constant, rather or relatively small, a small increase, scales similarly", "within " + percent(Alike) + "; of growth the exponents"},
		{"steadily, relatively constant: of one engine from place to place", "as above, of one program's tables at all places: OpenSM's where they are at hand at two or more, else ours"},
		{"far smaller; smaller, a tendency to diminish", fmt.Sprintf("less than %g times the other; less than the other", Half)},
		{"about n, approximately n, n times, twice, a crossing or a maximum at about n", fmt.Sprintf("within a factor of %g", About)},
		{"a maximum, a curve, a gain that grows", "open where what decides is within its error: of means over networks as of throughputs, of two gains of one network " + percent(Sampling)},
		{"orders of magnitude", fmt.Sprintf("within a factor of %g", Magnitude)},
		{"n to m lanes", "the least and the most of the networks drawn are both within one of the paper's"},
		{"never more than n, n suffice", "the most of all networks drawn is n or less; hardly ever: at 19 of 20 places"},
		{"in many cases", "on " + percent(Many) + " of the networks drawn or more"},
		{"saves up to n", "one at least and n at most at every place measured"},
		{"often", "at half of the places measured or more"},
		{"a time to deadlock", fmt.Sprintf("the mean of the runs that stop within a factor of %g of the paper's", Timing)},
		{"times to deadlock, size by size", fmt.Sprintf("the longest over the shortest within a factor of %g of the paper's, and the longest at the same size", Timing)},
		{"routing times beside each other, or as they grow", "as above where ours agree, else open: the papers timed programs of their day, which are not at hand"},
		{"an absolute routing time", "open: the paper's machine and programs are not at hand"},
	}
}
