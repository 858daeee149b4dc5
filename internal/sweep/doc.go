// Package sweep says what a campaign of measurements consists of: a SPEC file names
// networks, engines and measures, and every network routed by every engine is a point.
//
// A point is known by its ID, which is made of what it describes and of nothing else: it
// keeps it whatever else the file says, wherever the file lies, and in whatever order. So
// results of one file are results of a larger one, and of parts of it taken elsewhere.
//
// The packages below take it from there: meter measures a point, results keeps what came
// of points, pool runs many at a time, slurm hands them to a cluster.
//
// Estimates says how long points take before they are taken, and Shard deals them out in
// parts that take about as long as each other.
package sweep
