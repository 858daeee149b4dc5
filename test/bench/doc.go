// Package bench holds the benchmarks: what routing, judging and reading cost.
//
// go test -bench measures each stage by itself, for profiles and benchstat. What a user waits
// for, a process for every network and engine, is a campaign of weft sweep: engines.yaml, and
// change.yaml for repairs. Program opensm measures OpenSM's engines and weft's in one OpenSM on
// the same networks, and program patchwork engines on networks as machine rooms have them. The
// README has the tables that they made.
package bench
