// Package conformance holds one suite of tests that every path finder with every
// lane assigner has to pass, on every network of a corpus, while links and
// switches fail until the network falls apart.
//
// The suite believes neither the engines nor the judge. Whatever package
// deadlock says is said again by a dumb twin, written from the definitions and
// sharing no code with it: a packet walks through the tables, one at a time, for
// every source, destination and service level; the dependencies are a map; a
// graph is acyclic if its sinks can be peeled off until nothing is left.
//
// And once more by checker.py, in another language and from the files alone: what
// weft route --out writes, of random networks, engines, damage, contracts and LMCs,
// and of the same tables after random corruption.
//
// It holds tests only. With -short it takes a smaller corpus.
package conformance
