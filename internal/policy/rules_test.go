package policy

// rules is in order of preference: the first that fits a package counts. Those of
// campaigns, sweepRules, follow them.
var rules = []rule{
	{
		packages: "fabric",
		may:      []string{"internal/nodename"},
		why:      "everything stands on the network as cabled, so it stands on nothing but how descriptions of nodes are read",
	},
	{
		packages: "internal/nodename",
		why:      "how firmware and drivers describe nodes is about text",
	},
	{
		packages: "internal/sturdy",
		may:      []string{".", "change", "congestion", "fabric", "result", "routing", "routing/engines", "internal/bandwidths", "internal/choose", "internal/engine/option"},
		why:      "whether other tables would survive failures better is asked of whole results; it stands above what makes them",
	},
	{
		packages: "internal/names",
		may:      []string{"fabric", "internal/nodename", "internal/spell", "internal/words"},
		why:      "what people call the parts of a network is one question, asked by every command and every file about hosts",
	},
	{
		packages: "internal/bound", may: []string{"fabric", "routing", "internal/engine/steps/levels", "internal/par"},
		why: "it says what no routing can do better, and so knows none",
	},
	{
		packages: "internal/inspect",
		may:      []string{"fabric", "internal/names"},
		why:      "what is odd about cables and names shows before anything is routed",
	},
	{
		packages: "topology",
		may:      []string{"fabric", "internal/par", "internal/spell"},
		why:      "a generator makes fabrics; how they are routed or written is not its business",
	},
	{
		packages: "traffic",
		may:      []string{"fabric", "internal/names", "format", "internal/reading", "internal/par", "internal/spell"},
		why:      "who talks to whom does not depend on how it is routed",
	},
	{
		packages: "format",
		why:      "what is wrong with a text, whatever the format: it knows no network",
	},
	{
		packages: "internal/counters",
		may:      []string{"fabric", "format", "internal/reading", "internal/words"},
		why:      "what ports have counted, as tools print it; what routes predict is not its business",
	},
	{
		packages: "internal/reading",
		may:      []string{"format"},
		modules:  []string{"github.com/klauspost/compress/zstd", "github.com/ulikunitz/xz"},
		why:      "what all readers have in common knows no format and no network",
	},
	{
		packages: "internal/format/lft",
		may:      []string{"fabric", "routing", "format", "internal/reading", "internal/format/blocks", "internal/format/subnetlst", "internal/par", "internal/tablefiles"},
		why:      "forwarding tables name destinations by LID, and only the subnet list of the same OpenSM says whose LID it is",
	},
	{
		packages: "format/certificate",
		may:      []string{"fabric", "routing", "deadlock", "format", "internal/reading"},
		why:      "a proof is written as the judge found it, and means nothing without the fabric and contract it is about",
	},
	{
		packages: "format/internal/graphs",
		may:      []string{"fabric", "format", "internal/reading", "format/internal/objects"},
		modules:  []string{"gonum.org/v1/gonum/graph/formats/dot"},
		why:      "a graph of another program is a fabric and nothing else; DOT is read by a parser that others keep",
	},
	{packages: "format/files", may: []string{"fabric", "routing", "deadlock", "format/...", "internal/format/...", "internal/reading", "internal/tablefiles"}, why: "a text is recognised by its beginning, and read by the package of its format"},
	{
		packages: "format/...",
		may:      []string{"fabric", "routing", "format", "internal/reading", "internal/format/blocks", "internal/format/portinfo", "format/internal/...", "internal/par"},
		why:      "a format reads and writes values: it computes no routing and does not know other formats",
	},
	{
		packages: "internal/format/...",
		may:      []string{"fabric", "routing", "format", "internal/reading", "internal/format/blocks", "internal/format/portinfo", "internal/par"},
		why:      "formats that only other parts of a folder of tables make sense of, under the same rule",
	},
	{
		packages: "routing",
		may:      []string{"fabric"},
		why:      "the contract between stages depends on none of them",
	},
	{
		packages: "internal/engine/steps/acyclic",
		may:      []string{"fabric"},
		why:      "a data structure over the channels of a fabric",
	},
	{
		packages: "internal/engine/steps/grid/gridtest",
		may:      []string{"fabric"},
		why:      "fabrics for tests, made without what they test",
	},
	{
		packages: "internal/engine/steps/...",
		may:      []string{"fabric", "routing", "internal/engine/steps/...", "internal/par", "internal/adaptive", "internal/list", "internal/words"},
		why:      "the steps that several engines need are below all of them: no arrow runs back up",
	},
	{
		packages: "internal/engine/paths/...",
		may:      []string{"fabric", "routing", "internal/engine/steps/...", "internal/par", "internal/adaptive", "internal/list"},
		why:      "which way and which lane are two decisions, and one paper's path finder is not built on another's",
	},
	{
		packages: "internal/engine/lanes/weave",
		may:      []string{"fabric", "routing", "internal/engine/steps/..."},
		why:      "lanes by turn, which the routers that also change paths need too, are kept in internal/engine/steps/turnlanes",
	},
	{
		packages: "internal/engine/lanes/...",
		may:      []string{"fabric", "routing", "internal/engine/steps/acyclic", "internal/engine/steps/forest", "internal/par"},
		why:      "a lane assigner takes any forwarding tables, whoever made them, and is judged by others",
	},
	{
		packages: "internal/engine/torus2qos",
		may:      []string{"fabric", "routing", "internal/engine/steps/..."},
		why:      "its lanes belong to its paths, so it decides both; the coordinates it shares with the path finder dor",
	},
	{packages: "internal/engine/dragonfly", may: []string{"fabric", "routing", "internal/engine/steps/...", "internal/list"}, why: "its lanes go by the groups that its paths go by, so it decides both"},
	{
		packages: "internal/engine/nue",
		may:      []string{"fabric", "routing", "internal/engine/steps/..."},
		why:      "it decides both, which way and which lane, and so stands beside the path finders and lane assigners",
	},
	{
		packages: "internal/engine/weave",
		may:      []string{"fabric", "routing", "internal/engine/steps/...", "internal/list"},
		why:      "it changes paths for the sake of lanes, and so stands beside both; whose paths it begins with is not its business",
	},
	{
		packages: "internal/engine/mplash",
		may:      []string{"fabric", "routing", "internal/engine/steps/...", "internal/adaptive"},
		why:      "it counts the layers of routes that no tables can hold, and stands beside what makes tables",
	},
	{
		packages: "internal/adaptive",
		may:      []string{"fabric", "routing"},
		why:      "routing in which switches choose as packets come, as a value: who makes it and who judges it are others",
	},
	{
		packages: "internal/engine/adaptive/choosing",
		may:      []string{"internal/adaptive", "internal/engine/adaptive/...", "internal/spell"},
		why:      "the engines whose switches choose, as a table",
	},
	{
		packages: "internal/engine/adaptive/...",
		may:      []string{"fabric", "routing", "internal/engine/steps/...", "internal/adaptive"},
		why:      "an adaptive engine decides paths and lanes at once, is not built on another's, and is judged by others",
	},
	{packages: "internal/engine/spanning", may: []string{"fabric", "routing", "internal/engine/steps/..."}, why: "a tree for multicast is found beside the finished tables of any engine"},
	{packages: "internal/engine/auto", why: "what the table of engines says for auto, below the table"},
	{packages: "internal/engine/option", why: "what engines can be told has a name, below the table that says who is told what"},
	{
		packages: "internal/engine/setting",
		may:      []string{"routing/engines", "internal/engine/option", "internal/engine/lanes/layer", "internal/engine/paths/balance", "internal/engine/weave", "internal/engine/auto"},
		why:      "the options of engines as people write them: above the table, for command, daemon and campaigns",
	},
	{
		packages: "routing/engines",
		may:      []string{"fabric", "internal/names", "routing", "internal/engine/paths/...", "internal/engine/lanes/...", "internal/engine/adaptive/...", "internal/engine/dragonfly", "internal/engine/nue", "internal/engine/torus2qos", "internal/engine/weave", "internal/spell", "internal/engine/option", "internal/engine/auto"},
		why:      "an engine is a row in a table: a path finder and a lane assigner; how ranks sit on hosts goes by the names of hosts",
	},
	{
		packages: "internal/waits",
		why:      "the last step of every judge knows vertices and edges, and not of what",
	},
	{
		packages: "internal/waits/cdg",
		may:      []string{"fabric", "routing", "internal/waits"},
		why:      "what judges share and engines do not: the graph of who waits for whom",
	},
	{
		packages: "internal/adaptive/judge",
		may:      []string{"fabric", "routing", "deadlock", "internal/adaptive", "internal/waits", "internal/waits/cdg"},
		why:      "whoever judges shares no code with whoever is judged",
	},
	{
		packages: "deadlock",
		may:      []string{"fabric", "routing", "internal/waits", "internal/waits/cdg"},
		why:      "the judge is not the defendant: it shares no code with what it judges, not even a graph",
	},
	{
		packages: "ethernet",
		may:      []string{"internal/words", "internal/visible"},
		why:      "lossless Ethernet as a value: devices, cables, routes and priorities; who reads or judges them is not its business",
	},
	{
		packages: "internal/ethernet/lined",
		may:      []string{"format"},
		why:      "JSON with lines, for the readers of dumps",
	},
	{
		packages: "internal/ethernet/testcables",
		may:      []string{"ethernet", "internal/ethernet/hops"},
		why:      "cablings for tests, of the packages below as well",
	},
	{
		packages: "internal/ethernet/drawn",
		may:      []string{"ethernet", "internal/ethernet/lined", "format", "internal/reading", "internal/words", "internal/visible"},
		modules:  []string{"go.yaml.in/yaml/v3"},
		why:      "readers of networks without routes; Containerlab writes YAML",
	},
	{
		packages: "ethernet/folder",
		may:      []string{"ethernet", "internal/ethernet/frr", "internal/ethernet/lined", "internal/ethernet/lldp", "internal/ethernet/sonic", "format", "internal/reading", "internal/words"},
		modules:  []string{"go.yaml.in/yaml/v3"},
		why:      "it puts together what the devices of a network say, each in its own dialect",
	},
	{packages: "internal/ethernet/hops", may: []string{"ethernet"}, why: "how far apart devices are is about cables and next hops, whoever asks"},
	{
		packages: "internal/ethernet/bgp",
		may:      []string{"ethernet", "internal/ethernet/hops"},
		why:      "it computes routes, and does not ask what is made of them",
	},
	{
		packages: "internal/ethernet/pins",
		may:      []string{"ethernet", "fabric", "routing", "internal/engine/steps/coloring", "internal/ethernet/bgp", "internal/words"},
		why:      "it makes configurations of tables that others computed, and of the plan of BGP",
	},
	{
		packages: "internal/ethernet/between",
		may:      []string{"ethernet", "internal/ethernet/bgp", "internal/words"},
		why:      "it compares networks, however they were read; who judges the mixture is not its business",
	},
	{
		packages: "internal/ethernet/pauses",
		may:      []string{"ethernet", "format", "internal/reading"},
		why:      "what ports count of pauses, and the way that they come by next hops",
	},
	{
		packages: "internal/ethernet/shape",
		may:      []string{"ethernet", "internal/ethernet/hops", "internal/words"},
		why:      "it describes a network, and judges nothing",
	},
	{
		packages: "internal/ethernet/collect",
		may:      []string{"ethernet", "internal/ethernet/frr", "internal/ethernet/lined", "internal/ethernet/lldp", "internal/ethernet/pauses", "internal/ethernet/sonic", "format", "internal/child", "internal/reading", "internal/whole", "result", "internal/words"},
		modules:  []string{"go.yaml.in/yaml/v3"},
		why:      "what devices print counts if the readers can read it; inventories are YAML",
	},
	{
		packages: "internal/ethernet/ecmp",
		may:      []string{"ethernet", "routing", "traffic"},
		why:      "it counts flows on routes, wherever these come from; of routing it has the word for progress",
	},
	{
		packages: "internal/ethernet/cure",
		may:      []string{"ethernet", "internal/ethernet/hops", "format", "internal/reading"},
		why:      "it makes rules that others judge, and so asks no judge",
	},
	{
		packages: "internal/ethernet/failures",
		may:      []string{"ethernet", "internal/ethernet/bgp", "internal/ethernet/dependencies", "ethernet/judge", "internal/par"},
		why:      "it has the routes after a failure computed by the one and judged by the other",
	},
	{
		packages: "internal/ethernet/dependencies",
		may:      []string{"ethernet", "internal/waits"},
		why:      "a part of the judge of Ethernet, which shares no code with what it judges",
	},
	{
		packages: "ethernet/judge",
		may:      []string{"ethernet", "internal/ethernet/dependencies", "internal/waits", "format", "internal/reading"},
		why:      "the judge of Ethernet shares no code with what it judges",
	},
	{
		packages: "internal/ethernet/pfc",
		may:      []string{"ethernet", "ethernet/judge"},
		why:      "a simulator takes a network as it is; only what it replays are the judge's loops",
	},
	{
		packages: "internal/ethernet/...",
		may:      []string{"internal/ethernet/lined", "format", "internal/reading"},
		why:      "a reader of one kind of file knows no network and no other reader",
	},
	{
		packages: "deadlock/transition",
		may:      []string{"fabric", "routing", "deadlock"},
		why:      "it judges a change as the judge judges tables, and shares no code with what makes the change",
	},
	{
		packages: "internal/repair",
		may:      []string{"fabric", "routing", "internal/engine/steps/...", "internal/walk"},
		why:      "it makes changes that others judge, and so asks no judge",
	},
	{
		packages: "change",
		may:      []string{"fabric", "routing", "deadlock", "deadlock/transition", "internal/repair", "internal/walk", "internal/par", "internal/pulled"},
		why:      "it brings those who plan a change and those who judge it together, and neither knows the other",
	},
	{
		packages: "congestion",
		may:      []string{"fabric", "routing", "traffic", "internal/capacity", "internal/par", "internal/fan"},
		why:      "a simulator takes finished tables and does not ask who made them",
	},
	{packages: "internal/least", may: []string{"fabric", "routing"}, why: "a bound for changes, whoever plans them"},
	{packages: "internal/pulled", may: []string{"fabric", "routing"}, why: "what goes with parts of a network; who plans what is done about it is not its business"},
	{packages: "internal/loads", may: []string{"fabric", "routing", "congestion"}, why: "loads that were counted, grouped for those who show them"},
	{packages: "internal/walk", may: []string{"fabric"}, why: "where rows of tables lead; who writes them is not its business"},
	{packages: "internal/capacity", may: []string{"fabric"}, why: "rates of channels, beside each other; who counts what goes over them is not its business"},
	{packages: "internal/fan", may: []string{"fabric", "routing"}, why: "how packets go on where switches choose; who counts them is not its business"},
	{
		packages: "internal/trouble",
		may:      []string{"fabric", "internal/counters", "internal/counters/explain", "internal/events", "internal/inspect", "internal/names", "internal/words", "result"},
		why:      "it weighs what others read, counted and remembered; who reads it from where, and who shows it, is not its business",
	},
	{packages: "internal/counters/explain", may: []string{"fabric", "routing", "congestion", "internal/fan"}, why: "it puts counters beside the loads of routes; who reads them from where is not its business"},
	{packages: "internal/bandwidths", may: []string{"fabric", "routing", "traffic", "congestion", "internal/loads"}, why: "it has tables before and after a change measured alike"},
	{packages: "internal/jobfiles", may: []string{"fabric", "format", "internal/names", "internal/reading", "traffic"}, why: "it reads what people write about jobs, by the names of hosts"},
	{packages: "internal/tablefiles", why: "the names of the files of a folder"},
	{packages: "internal/placement", may: []string{"fabric", "routing", "traffic", "congestion", "internal/capacity"}, why: "it takes finished tables, and has what it finds measured by the counting of flows"},
	{
		packages: "packets",
		may:      []string{"fabric", "routing", "traffic", "internal/par", "internal/adaptive"},
		why:      "a simulator takes finished tables and does not ask who made them",
	},
	{
		packages: "internal/choose",
		may:      []string{"fabric", "traffic", "routing", "routing/engines", "internal/engine/option", "internal/engine/paths/balance", "deadlock", "congestion", "internal/engine/auto"},
		why:      "how auto chooses among engines by their columns; who routes and asks the judge tells it",
	},
	{
		packages: ".",
		may:      []string{"fabric", "routing", "routing/engines", "internal/engine/spanning", "traffic", "deadlock", "congestion", "internal/choose", "internal/engine/auto"},
		why:      "the way in for programs: it runs engines by name, asks the judge, and knows no engine in particular",
	},
	{
		packages: "internal/opensm/conf",
		may:      []string{"format", "internal/reading", "internal/spell"},
		why:      "it reads a file of OpenSM's, whatever is made of it",
	},
	{
		packages: "internal/opensm/deploy",
		may:      []string{"fabric", "routing", "format/files", "internal/engine/steps/levels", "internal/format/lft"},
		why:      "it writes tables that others made and proved",
	},
	{
		packages: "internal/opensm/advice",
		may:      []string{"routing", "deadlock", "internal/opensm/deploy", "internal/opensm/wire"},
		why:      "which way into an OpenSM keeps tables proven is what files and the plugin can say, and the judge's word on what would be installed",
	},
	{
		packages: "internal/opensm/check",
		may:      []string{"fabric", "routing", "routing/engines", "deadlock", "internal/opensm/advice", "internal/opensm/conf", "internal/spell"},
		why:      "it looks at a configuration with the eyes of the judge and of the engines by name, and asks as advice does whether one lane is enough",
	},
	{
		packages: "internal/opensm/daemon",
		may:      []string{"fabric", "internal/names", "routing", "routing/engines", "internal/engine/paths/balance", "traffic", "format/...", "internal/format/...", "internal/reading", "deadlock", "congestion", "deadlock/transition", "change", ".", "internal/opensm/wire", "internal/opensm/installed", "internal/clock", "internal/configfile", "internal/events", "internal/livepage", "internal/loopback", "internal/shell", "internal/trouble", "internal/proofchecker", "internal/whole", "internal/engine/option", "internal/engine/setting", "internal/jobfiles", "internal/words", "result", "internal/pulled"},
		modules:  []string{"github.com/prometheus/client_golang"},
		why:      "it routes by the names of engines, asks the judge, change how long packets are about, and answers over the wire; settings name switches, hosts and aims; Prometheus is what administrators use",
	},
	{
		packages: "internal/opensm/installed",
		may:      []string{"fabric", "routing", "internal/engine/spanning", "deadlock", "deadlock/transition", "change", "internal/words", "result"},
		why:      "it plans changes and has them judged; who asks, and how tables travel, is not its business",
	},
	{
		packages: "internal/opensm/wire",
		may:      []string{"fabric", "routing", "deadlock"},
		why:      "a request is a fabric and an answer is tables with their proof; who routes is on the other side",
	},
	{
		packages: "internal/watch",
		may:      []string{"fabric", "internal/inspect", "internal/trouble", "internal/child", "internal/counters/explain", "internal/counters", "format", "internal/reading", "routing", "routing/engines", "deadlock", "congestion", "deadlock/transition", "internal/opensm/conf", "internal/clock", "internal/configfile", "internal/events", "internal/livepage", "internal/loopback", "internal/shell", "internal/list", "internal/whole", "internal/words", "result", "internal/outputs", "ethernet", "ethernet/judge", "internal/ethernet/between", "internal/ethernet/pauses", "internal/ethernet/shape"},
		modules:  []string{"github.com/prometheus/client_golang"},
		why:      "it has what runs judged and compared, and routes only to recognise the engine; who reads the files is not its business",
	},
	{
		packages: "internal/engine/coordinates",
		may:      []string{"fabric", "internal/engine/steps/grid"},
		why:      "what the engines know of a grid, for those who draw it",
	},
	{
		packages: "internal/page/layout",
		may:      []string{"fabric", "internal/names", "internal/inspect", "internal/engine/coordinates", "internal/words"},
		why:      "where switches are drawn follows from the cables, whatever is routed over them",
	},
	{
		packages: "internal/page",
		may:      []string{"fabric", "internal/names", "internal/inspect", "routing", "deadlock", "deadlock/transition", "traffic", "congestion", "internal/loads", "internal/page/layout", "internal/page/web", "internal/list", "internal/words", "internal/trouble", "result"},
		why:      "it shows what judges and simulators found; who routed, and where files lie, is not its business",
	},
	{
		packages: "internal/export",
		may:      []string{"fabric", "internal/list", "internal/names", "format", "internal/reading", "internal/page", "internal/spell", "internal/words", "result"},
		why:      "it writes what reports show in the forms of other tools, and finds out nothing by itself",
	},
	{
		packages: "internal/page/web",
		why:      "files and nothing else",
	},
	{
		packages: "internal/figure",
		modules:  []string{"gonum.org/v1/plot"},
		why:      "curves and bars as SVG; what they show is not its business",
	},
	{packages: "libweft", may: []string{"fabric", "routing", "deadlock", "format", "internal/reading", "format/certificate", "format/files"}, why: "it asks the judge for C, and makes nothing"},
	{packages: "examples/...", may: []string{".", "fabric", "topology", "traffic", "routing", "routing/engines", "format/files", "deadlock", "congestion"}, why: "programs as others write them"},
	{
		packages: "build/scripts/mutants",
		why:      "it changes the programs that decide, and so is made of none of them",
	},
	{
		packages: "build/scripts/proofcover",
		why:      "it reads what Coq says of the proofs, which share nothing with the programs",
	},
	{
		packages: "test/bench/patchwork", may: []string{".", "fabric", "format/files", "routing", "routing/engines", "topology", "internal/engine/option", "internal/engine/setting", "internal/choose", "internal/bound"},
		why: "a program that measures engines as users of the library do, beside what none can be better than",
	},
	{
		packages: "test/bench/opensm", may: []string{"topology", "routing", "routing/engines", "deadlock", "result"},
		why: "it runs OpenSM and the program as a user does; only to measure routing alone it calls an engine and the judge",
	},
	{packages: "internal/cli/internal/exit", why: "exit codes and nothing else"},
	{packages: "internal/words", why: "texts and nothing else"},
	{packages: "internal/list", why: "lists of anything"},
	{packages: "result", may: []string{"fabric"}, why: "what commands print, as values: who makes them is not its business"},
	{
		packages: "internal/outputs",
		may:      []string{"fabric", "routing", "deadlock", "deadlock/transition", "congestion", "change", "result", "internal/least", "internal/list", "internal/repair", "internal/words", "internal/bandwidths", "ethernet", "ethernet/judge"},
		why:      "what commands print is made of what judges and planners found; it finds out nothing by itself",
	},
	{
		packages: "internal/cli/internal/console",
		may:      []string{"format", "internal/reading", "routing", "internal/cli/internal/exit", "internal/cli/internal/version", "internal/visible", "internal/words"},
		modules:  []string{"github.com/jedib0t/go-pretty", "golang.org/x/term"},
		why:      "it reads and prints, whatever it is about",
	},
	{
		packages: "internal/cli/internal/output",
		may:      []string{"format/files", "internal/opensm/deploy", "internal/cli/internal/exit", "internal/cli/internal/console", "internal/visible", "internal/tablefiles", "internal/whole"},
		modules:  []string{"golang.org/x/sys"},
		why:      "it knows the names of the files that weft writes, and not what is in them",
	},
	{
		packages: "internal/cli/internal/proof",
		may:      []string{"internal/cli/internal/exit", "internal/proofchecker", "result"},
		why:      "a command that proves something asks weft-proof about it, whatever it is",
	},
	{
		packages: "internal/cli/internal/report",
		may:      []string{"fabric", "routing", "deadlock", "result", "internal/cli/internal/console", "internal/list", "internal/words", "internal/outputs"},
		why:      "it says what is in networks and verdicts; it makes none",
	},
	{
		packages: "internal/cli/internal/flags",
		may: []string{
			"fabric", "internal/names", "format", "format/files", "internal/reading", "traffic", "routing", "routing/engines", "internal/engine/lanes/layer", "internal/engine/paths/balance", "internal/engine/weave", "congestion",
			"result", "internal/spell", "internal/cli/internal/exit", "internal/list", "internal/cli/internal/console", "internal/cli/internal/output", "internal/engine/adaptive/choosing", "internal/engine/option", "internal/engine/setting", "internal/jobfiles", "internal/tablefiles", "internal/engine/auto",
		},
		modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
		why:     "it declares and checks what several commands can be told, and does nothing of it",
	},
	{
		packages: "internal/cli/internal/input",
		may:      []string{"fabric", "internal/names", "topology", "traffic", "routing", "routing/engines", "format/...", "internal/format/...", "result", "internal/reading", "internal/list", "internal/words", "internal/cli/internal/...", "internal/outputs", "internal/jobfiles"},
		why:      "it reads fabrics and tables from whatever file they are in",
	},
	{
		packages: "cmd/weft",
		may:      []string{"internal/cli"},
		why:      "the program is the command and nothing else",
	},
	{packages: "internal/cli/internal/version", may: []string{"result"}, why: "what the build knows of itself"},
	{
		packages: "internal/cli/...",
		may:      []string{"..."},
		modules:  []string{"github.com", "golang.org/x", "gonum.org/v1/plot"},
		why:      "the command puts everything together, and is the only one that talks to a terminal",
	},
	{
		packages: "internal/configfile",
		may:      []string{"format", "internal/reading", "internal/spell"},
		modules:  []string{"go.yaml.in/yaml/v3"},
		why:      "it reads settings into a struct, whatever they are about",
	},
	{
		packages: "internal/shell",
		may:      []string{"internal/loopback", "internal/reading", "internal/whole"},
		modules:  []string{"github.com/prometheus/client_golang"},
		why:      "it is what any daemon is to whoever runs it, whatever it does",
	},
	{
		packages: "internal/events",
		may:      []string{"fabric", "deadlock/transition", "internal/reading", "result"},
		why:      "it notes what happened, and decides nothing",
	},
	{
		packages: "internal/livepage",
		may:      []string{"deadlock", "ethernet", "internal/page", "routing", "result"},
		why:      "it shows the tables that a daemon has judged",
	},
	{packages: "internal/whole", may: []string{"internal/visible", "internal/words"}, why: "it writes a file, whatever is in it"},
	{packages: "internal/visible", why: "texts and nothing else"},
	{packages: "internal/journal", may: []string{"format", "internal/reading"}, why: "lines of a file, whatever they say"},
	{
		packages: "internal/proofchecker",
		may:      []string{"deadlock", "ethernet", "ethernet/judge", "fabric", "format/files", "format/ibnet", "internal/child", "internal/tablefiles", "routing"},
		why:      "it writes tables and certificate as files, which is all that weft-proof shares with weft",
	},
	{packages: "internal/loopback", why: "it guards a port, whoever answers there"},
	{packages: "internal/child", why: "a program of others, whichever"},
	{packages: "internal/clock", why: "the time of the day and nothing else"},
	{
		packages: "internal/par",
		modules:  []string{"golang.org/x/sync"},
		why:      "a loop on several cores",
	},
	{
		packages: "internal/reproduce/example",
		may:      []string{".", "fabric", "routing", "routing/engines"},
		why:      "an example of a paper is routed, and counted out by hand",
	},
	{packages: "internal/reproduce/claims", why: "a sentence of a paper is held against values, however they were measured"},
	{
		packages: "internal/reproduce/papers",
		may:      []string{"internal/reproduce/example", "internal/reproduce/claims", "internal/spell", "internal/sweep", "internal/sweep/measures"},
		why:      "what the papers show and state is data: campaigns, and which of their rows are a figure",
	},
	{
		packages: "internal/reproduce",
		may:      []string{"fabric", "internal/figure", "format", "internal/reading", "internal/journal", "internal/reproduce/...", "internal/sweep", "internal/sweep/campaign", "internal/sweep/measures", "internal/sweep/meter", "internal/sweep/pool", "internal/sweep/results"},
		why:      "it runs the papers' campaigns, and writes pages about them",
	},
	{packages: "internal/spell", why: "words and nothing else"},
	{
		packages: "internal/live",
		may:      []string{"fabric"},
		why:      "the oracles of the tests must not depend on what they test",
	},
	{
		packages: "internal/testnet",
		may:      []string{"fabric", "topology", "format/ibnet"},
		modules:  []string{"pgregory.net/rapid"},
		why:      "fabrics for tests: generated and read, and nothing that routes them; it says how many cases rapid draws, and by which seed",
	},
	{packages: "internal/testnet/routed", may: []string{"fabric", "routing", "routing/engines", "internal/engine/adaptive/minimal", "internal/testnet"}, why: "tables for tests, by the names of engines"},
	{packages: "internal/scramble", why: "it damages texts for tests, whatever they are"},
	{
		packages: "internal/dumped",
		may:      []string{"fabric", "routing", "format", "internal/reading", "internal/format/lft", "internal/format/subnetlst"},
		why:      "tables for tests, made by OpenSM and by nobody here",
	},
	{packages: "internal/policy", why: "it holds tests only"},
	{
		packages: "test/bench",
		may:      []string{"..."},
		why:      "it holds benchmarks of everything",
	},
	{
		packages: "test/conformance",
		may:      []string{"..."},
		why:      "it holds tests of every path finder with every lane assigner",
	},
	{
		packages: "test/e2e/...",
		may:      []string{"..."},
		why:      "it holds tests of everything together, on OpenSM and ibdmchk",
	},
}

// testOnly is what no code but tests may import, whatever the rules say.
var testOnly = []string{"internal/dumped", "internal/engine/steps/grid/gridtest", "internal/live", "internal/policy", "internal/testnet", "internal/testnet/routed", "test/bench", "test/conformance", "test/e2e"}
