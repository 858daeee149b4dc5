// Package result has what the commands print for programs, as values: a verdict, a credit loop, who is
// cut off, a plan in steps, a comparison of engines. Each field has the name that docs/json.md gives
// it, so that the JSON of a command decodes into the type of its output, and whoever computes one,
// the command, a daemon or a program of somebody else's, shows the same.
//
// A type whose name is that of a command is the whole output of it: Info, Report, Route, Verify, Compare, WhatIf,
// Drain, DrainLive, Diff, Lanes, Place, Packets, Replay, Degrade, Deploy, DeployCheck, Explain, WatchLook,
// WatchLog, Status, Events, Collect, Pins, Sweep, SweepPlan, SweepMerge, Reproduce, ReproducePlan, Version. With
// Ethernet in its name it is that of lossless Ethernet. A type whose name begins with Report is a part of a Report,
// the others are parts of several.
//
// What people read is written by whoever shows it, from these values, which have no methods for that. A
// field without a name in JSON helps with it, and is empty in a value that was decoded.
package result
