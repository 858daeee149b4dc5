// Package reproduce runs the experiments of the papers that weft is built on, and
// says what came of each sentence that they state about them.
//
// An experiment (package papers) is a figure or table: lines, usually one an engine,
// over networks. A point (package measure) is one value of it and an independent
// job: a measure taken of an engine on a network. A claim (package claims) is a
// sentence of the paper's text and how to hold it against the points.
//
// A run (Execute) takes the points that its folder does not hold yet and keeps each as
// soon as it is finished, so that it may be interrupted and begun again. A point
// is known by its whole definition: another definition is another point. What was
// measured by another weft or on another machine is measured again.
//
// Points are taken as those of campaigns are (sweep/pool): each in a process, on a core of
// its own.
//
// Everything but times is a function of the definitions and the seed. Times are
// taken alone, with nothing else running.
//
// Most comparisons of the papers are with OpenSM. A Reference holds what OpenSM's own
// tables have on the same networks; with one, its lines stand beside ours and claims
// are held against them.
//
// It takes as long as it takes: minutes for the quick set on two cores, about an hour
// for the full one. Memory is kept below Options.Memory, as far as it can be told
// from the size of a network; a point that needs more runs alone.
package reproduce
