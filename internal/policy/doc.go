// Package policy holds the rules of the house as tests: who may import whom, and
// what every package and file must look like. It has no code of its own.
//
// A rule is never relaxed to fix a build. A new package fails the test until it
// has a rule; adding one is deciding where it stands.
package policy
