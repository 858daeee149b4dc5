// Package reproduce runs the experiments of the papers that weft is built on, and
// says what came of each sentence that they state about them.
//
// An experiment (package papers) is a figure or table: lines, usually one an engine,
// over networks. What is measured, and how often, is a campaign of weft sweep
// (papers/specs), in a quick and a full set where the full one takes long; a line at a
// place is a selection of its rows, and its value the mean over the networks drawn. A claim
// (package claims) is a sentence of the paper's text and how to hold it against the values.
//
// A run (Execute) is a campaign of all points of its experiments, so that it may be
// interrupted and begun again, and what weft sweep measured of the same points counts
// (Options.Have). What the folder has by another weft or of another machine is measured
// again.
//
// Everything but times is a function of the definitions and the seed. Times are
// taken alone, with nothing else running.
//
// Most comparisons of the papers are with OpenSM. A Reference holds what OpenSM's own
// tables have on the same networks; with one, its lines stand beside ours and claims
// are held against them.
//
// The full set takes 25 minutes on two cores, the quick one less than ten
// (docs/results/README.md). Memory is kept below Options.Memory, as far as it can be told from
// the size of a network; a point that needs more runs alone.
package reproduce
