package fabric

import "testing"

// A switch is called by the name that people gave it, where that names no other node.
func TestLabel(t *testing.T) {
	var b Builder
	names := map[string]string{
		"MF0;spine-1:MQM9700/U1":        "spine-1",
		"MF0;dir-1:CS7500/L02/U1":       "dir-1/L02/U1",
		"MF0;dir-1:CS7500/S01/U1":       "dir-1/S01/U1",
		"Voltaire 4036 # 4036-369C":     "4036-369C",
		"MF0;twice:MQM9700/U1":          "MF0;twice:MQM9700/U1",
		"MF1;twice:MQM9700/U1":          "MF1;twice:MQM9700/U1",
		"MF0;dir-1:MQM9700/U1":          "MF0;dir-1:MQM9700/U1", // also what the director is called
		"MF0;plain:MQM9700/U1":          "MF0;plain:MQM9700/U1",
		"plain":                         "plain",
		"Quantum Mellanox Technologies": "Quantum Mellanox Technologies",
	}
	for name := range names {
		b.Node(Node{Kind: Switch, Name: name, Ports: 4}, name)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for n := range f.Nodes() {
		if name := f.Node(NodeID(n)).Name; f.Label(NodeID(n)) != names[name] {
			t.Errorf("%q is called %q, want %q", name, f.Label(NodeID(n)), names[name])
		}
	}
}
