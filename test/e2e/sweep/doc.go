// Package sweep tests campaigns as their users run them: weft killed in the middle, and a real
// Slurm with two nodes on this machine, tasks killed and nodes taken away. It holds tests only.
package sweep
