// Package bench holds the benchmarks: what routing, judging and reading cost.
//
// go test -bench measures each stage by itself, for profiles and benchstat. The
// program in table measures the product as a user runs it, a process for every
// network and engine, and prints the table of the README here beside what OpenSM
// needs on the same networks.
package bench
