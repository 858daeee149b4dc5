package papers

// Measure is what a figure shows of a network routed by an engine.
type Measure string

// The measures, by the names that results have.
const (
	Bandwidth Measure = "bandwidth"  // effective bisection bandwidth, a fraction of full
	Lanes     Measure = "lanes"      // virtual lanes needed, before paths are spread over spare ones; layers of what no tables can hold
	Seconds   Measure = "seconds"    // routing time, paths and lanes
	Stops     Measure = "stops"      // microseconds until a network without lanes to spare stood still
	Completed Measure = "completion" // microseconds until all messages of a pattern have arrived
	Accepted  Measure = "accepted"   // packets delivered, a fraction of what the links of the hosts carry
	Delivered Measure = "delivered"  // the largest load offered that is still delivered, of a grid; a fraction likewise
	Rounds    Measure = "rounds"     // of messages between neighbours, until all switches have the tables of MROOTS
	Ports     Measure = "ports"      // the most ports of a switch
	Risk      Measure = "risk"       // congestion risk
	Example   Measure = "example"    // effective bisection bandwidth over all patterns, of HOTI 2009 figure 6: counted out and not measured
	Index     Measure = "index"      // edge-forwarding index over all numberings of the switches, of HOTI 2009 figure 3: counted out and not measured
)

// Counted reports whether the measure is counted out, so that there is no campaign.
func (m Measure) Counted() bool { return m == Example || m == Index }

// What may be written behind the spec of a network in a place:
//
//	torus:4x4,hosts=20 ports-shuffled={seed}    cables of switches in other ports, by that seed
//	deimos hosts-packed                         the hosts of a job are the first ones
//	deimos hosts-apart                          they are as far apart in the order of hosts as can be
//
// What a paper leaves open is swept: several networks with " | " between them, of which a
// value is the mean, with the least and the most.
const (
	seedMark      = "{seed}" // stands for one seed after another
	or            = " | "
	portsShuffled = " ports-shuffled="
	hostsPacked   = " hosts-packed"
	hostsApart    = " hosts-apart"
)

// RealPrefix marks a network that is a dump at hand and no spec.
const RealPrefix = "real:"

// SwitchesToo ends the names of lines, and of their engines, for which port 0 of a switch is
// an endpoint.
const SwitchesToo = ", switches too"

// uniform is the traffic in which every packet has a receiver of its own.
const uniform = "uniform"
