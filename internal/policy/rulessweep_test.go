package policy

// sweepRules is the rules for campaigns, packages below sweep.
var sweepRules = []rule{
	{
		packages: "sweep",
		may:      []string{"format", "topology", "traffic", "routing", "routing/engines", "congestion", "packets", "internal/plain", "internal/spell"},
		modules:  []string{"go.yaml.in/yaml/v3"},
		why:      "what a campaign consists of: it knows the names of networks, engines and settings, and measures nothing",
	},
	{
		packages: "sweep/results",
		may:      []string{"format", "internal/journal"},
		modules:  []string{"github.com/parquet-go/parquet-go"},
		why:      "rows, whatever was measured; Parquet is what tools for tables read, and too much to write anew",
	},
	{
		packages: "sweep/meter",
		may:      []string{".", "fabric", "topology", "traffic", "routing", "routing/engines", "routing/mplash", "routing/adaptive/alash", "routing/paths/updown", "deadlock", "congestion", "packets", "internal/plain", "sweep", "sweep/results", "sweep/pool"},
		why:      "it measures a point by what weft.Route and the simulators say, and by the algorithms that no table can hold; where files are read is not its business",
	},
	{
		packages: "sweep/pool",
		why:      "it has points taken in processes, whatever they are and whatever comes of them",
	},
	{
		packages: "sweep/chart",
		may:      []string{"figure", "internal/spell", "sweep/results"},
		why:      "it draws rows; what was measured is not its business",
	},
	{
		packages: "sweep/slurm",
		why:      "it has tasks run by Slurm, whatever they do",
	},
	{
		packages: "sweep/campaign",
		may:      []string{"internal/whole", "sweep", "sweep/results", "sweep/meter", "sweep/pool"},
		why:      "it brings together what a campaign consists of, who measures it and who keeps it",
	},
}
