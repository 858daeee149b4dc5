package export

import "testing"

func TestNamed(t *testing.T) {
	if f, err := Named("slurm-yaml"); err != nil || f.Name != "slurm-yaml" {
		t.Errorf("%+v, %v", f, err)
	}
	const want = `there is no such form; nearest is "graphml" (there are dot, graphml, json, anynet, csv, slurm, slurm-yaml, prometheus)`
	if f, err := Named("grafml"); err == nil || err.Error() != want {
		t.Errorf("%+v, %v", f, err)
	}
}
