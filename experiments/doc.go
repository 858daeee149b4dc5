// Package experiments runs the experiments of the papers that weft is built on,
// and says what came of each sentence that they state about them.
//
// The papers:
//
//   - O. Lysne, T. Skeie, S.-A. Reinemo, I. Theiss: Layered Routing in Irregular
//     Networks, IEEE TPDS 17(1), 2006;
//   - T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for Large-Scale
//     InfiniBand Networks, HOTI 2009;
//   - J. Domke, T. Hoefler, W. E. Nagel: Deadlock-Free Oblivious Routing for
//     Arbitrary Topologies, IPDPS 2011;
//   - T. Schneider, O. Bibartiu, T. Hoefler: Ensuring Deadlock-Freedom in
//     Low-Diameter InfiniBand Networks, HOTI 2016.
//
// Words. An Experiment is a figure or table, a row of one literal table (All). It
// has lines, usually one an engine, over networks. A Point is one value of it and
// an independent job: a measure taken of an engine on a network. A Claim is a
// sentence of the paper's text and how to hold it against the points.
//
// A run (Run) takes the points that its folder does not hold yet and keeps each as
// soon as it is finished, so that it may be interrupted and begun again. A point
// is known by its whole definition: another definition is another point. What was
// measured by another weft or on another machine is measured again.
//
// Everything but times is a function of the definitions and the seed. Times are
// taken alone, with nothing else running.
//
// Most comparisons of the papers are with OpenSM. A Reference holds what OpenSM's own
// tables have on the same networks; with one, its lines stand beside ours and claims
// are held against them.
//
// It takes as long as it takes: minutes for the quick set on two cores, about an hour
// for the full one. Memory is kept below Options.Memory, as far as footprint
// guesses right; a point that needs more runs alone.
//
// Deviations from the papers that hold for all experiments:
//
//   - The engines are those of this repository. Where a paper means OpenSM's, it
//     is ours of the same name, which may balance or assign lanes better.
//   - The real systems of the papers are not public, but for the plans of Deimos
//     and Odin. Fat trees of the same kind and size stand in for others, and are
//     called so; real fabrics at hand are taken where there are any.
//   - Hosts count as endpoints, nothing else; every link has the same rate.
//   - Packets are those of package packets, whose switches are not the ones of the
//     papers' simulators, which are not described to that detail.
//   - Every routing that claims to be free of deadlock is judged by package
//     deadlock before it is measured; if the judge disagrees the run fails.
package experiments
