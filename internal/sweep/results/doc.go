// Package results keeps what came of the points of a campaign: a row for every point and
// measure.
//
// While points are taken, a folder has a log (Log), to which the rows of a point are
// appended in one write when it is finished, so that a process that is killed loses the
// points at hand and no other. What is handed on is a Parquet file with the same rows in
// a fixed order (WriteParquet), whose metadata says what each column and measure is, in
// which unit.
package results
