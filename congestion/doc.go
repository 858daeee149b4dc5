// Package congestion counts flows on channels: how a routing spreads all-to-all
// traffic, and what bandwidth the flows of a pattern get.
//
// Loads. The edge-forwarding index of a routing is the largest number of routes that
// share a channel (M.-C. Heydemann, J.-C. Meyer, D. Sotteau: On Forwarding Indices of
// Networks, 1989; T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for
// Large-Scale InfiniBand Networks, HOTI 2009, section I). Count computes it,
// CountLanes lane by lane.
//
// Flows. Simulate is the experiment of HOTI 2009, section IV. A pattern is laid on the
// routes, the flows on each channel are counted (between switches and at the
// endpoints), and a flow gets its share of the fullest channel on its route. The mean
// over random bisections is the effective bisection bandwidth Λ, here a fraction of
// full. What the papers call the number of patterns N is Options.Runs.
//
// It agrees with ORCS, the simulator of that paper's authors, on tables of OpenSM
// (opensm_test.go). It differs as follows:
//
//   - links have rates, unless Options.UniformRates treats all alike: a flow gets
//     rate/flows of a channel, and full is the rate of the slower of the two
//     channels at its endpoints;
//   - with the model MaxMin, what a flow cannot use of its share of a channel goes
//     to the others there;
//   - bisections are drawn as a perfect matching with directions, which has the
//     distribution of a shuffle cut in halves; the stream is PCG-DXSM, one for
//     each run, not the Mersenne Twister;
//   - a pair without a route counts and gets nothing, so that tables with holes
//     look no better for them;
//   - runs may end by precision, looked at every 256 runs, not only by number.
//
// Where switches choose among ports (routing.Groups), a flow is split into equal parts for
// them (split.go): Simulate, TimesOf, CountTables and CountLanes count parts.
//
// A source sends to an endpoint with several addresses (LMC) by the first that it may
// use and that is reached.
//
// Precondition: tables that fit their fabric (routing.Tables.Check). They may be
// incomplete and may have loops. Results do not depend on the number of cores.
package congestion
