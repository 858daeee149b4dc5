// Package plugin tests OpenSM's plugin with a real OpenSM on simulated fabrics and
// a daemon of its own. It has no code of its own.
//
//   - Every engine routes through OpenSM, and what OpenSM and the switches then
//     have is what the engine made, entry by entry.
//   - Whatever the daemon does or fails to do, OpenSM runs and its tables are safe.
//   - The plugin's proof, in C, is held against the judge on answers that were
//     spoilt, with AddressSanitizer watching; and without any of its safeguards
//     that trial fails.
//   - It takes the time it may take on a large fabric.
//
// Without OpenSM, ibsim, a C compiler and OpenSM's headers the tests skip.
package plugin
