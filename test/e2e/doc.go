// Package e2e tests weft against real parts: what its engines compute, written
// in the files that the command writes, is loaded into OpenSM on a simulated
// fabric, and its verdicts are held against ibdmchk's. It has no code of its own.
//
//   - OpenSM loads our tables, under LIDs of its own, and dumps the same ports.
//   - ibdmchk, which shares no code with ours, finds a credit loop where our
//     judge does and nowhere else: for every engine, for OpenSM's own engines,
//     and for service levels and lanes that are drawn at random.
//   - The judge says of tables that OpenSM made for real fabrics what is known
//     of them.
//   - A service level that is changed by hand so that a loop closes is found.
//
// Whatever is compared is also compared after a change that must be noticed, so
// that no comparison here can pass by looking at nothing.
//
// Without OpenSM, ibsim and ibdmchk, or in short mode, the tests that run them
// skip (see package internal/live). Real dumps are looked for under
// $WEFT_CORPUS, by default the folder shared beside the repository, and the
// tests that need them skip without. All adapters count as endpoints, as they
// do for ibdmchk.
package e2e
