package policy

// sweepRules is the rules for campaigns, packages below sweep.
var sweepRules = []rule{
	{
		packages: "internal/sweep",
		may:      []string{"format", "internal/reading", "topology", "routing", "routing/engines", "internal/spell", "internal/engine/auto", "internal/engine/option", "internal/engine/setting", "internal/sweep/measures"},
		modules:  []string{"go.yaml.in/yaml/v3"},
		why:      "what a campaign consists of: it knows the names of networks, engines and settings, and the table of measures; it takes none",
	},
	{
		packages: "internal/sweep/measures",
		may:      []string{".", "change", "fabric", "traffic", "routing", "internal/repair", "deadlock/transition", "internal/engine/mplash", "internal/engine/adaptive/alash", "internal/engine/paths/updown", "deadlock", "internal/adaptive", "congestion", "packets", "internal/spell", "internal/par"},
		why:      "a measure is a row: what it is called, what its time grows with, and how it is taken by what weft.Route, the simulators and algorithms that no table can hold say",
	},
	{
		packages: "internal/sweep/results",
		may:      []string{"format", "internal/reading", "internal/journal"},
		modules:  []string{"github.com/parquet-go/parquet-go"},
		why:      "rows, whatever was measured; Parquet is what tools for tables read, and too much to write anew",
	},
	{
		packages: "internal/sweep/meter",
		may:      []string{".", "fabric", "topology", "routing", "routing/engines", "internal/engine/mplash", "internal/engine/paths/updown", "internal/adaptive", "internal/adaptive/judge", "internal/engine/adaptive/choosing", "packets", "internal/sweep", "internal/sweep/measures", "internal/sweep/results", "internal/sweep/pool"},
		why:      "it makes the network of a point and has it routed; where files are read is not its business",
	},
	{
		packages: "internal/sweep/pool",
		why:      "it has points taken in processes, whatever they are and whatever comes of them",
	},
	{
		packages: "internal/sweep/chart",
		may:      []string{"internal/figure", "internal/spell", "internal/sweep/results"},
		why:      "it draws rows; what was measured is not its business",
	},
	{
		packages: "internal/sweep/slurm",
		why:      "it has tasks run by Slurm, whatever they do",
	},
	{
		packages: "internal/sweep/campaign",
		may:      []string{"internal/whole", "internal/sweep", "internal/sweep/measures", "internal/sweep/results", "internal/sweep/meter", "internal/sweep/pool"},
		why:      "it brings together what a campaign consists of, who measures it and who keeps it",
	},
}
