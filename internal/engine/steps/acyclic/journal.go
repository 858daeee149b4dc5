package acyclic

import "github.com/weft-fabric/weft/fabric"

// Journal is a graph with a list of the dependencies that were added and removed since the last Forget,
// so that an attempt can be rolled back to a checkpoint.
type Journal struct {
	*Lanes
	changes []change

	// What the graph refused since, and still refuses: to find a cycle takes long, and attempts ask for the same
	// dependencies again and again. A refusal holds as long as what was in the graph then stays there.
	refused  map[Dependency]bool
	refusals []refusal
}

type refusal struct {
	Dependency
	changes int // that there were
}

type change struct {
	Dependency
	removed bool
}

// Admit adds a dependency unless the graph has it. It returns false if the dependency would close a
// cycle.
func (j *Journal) Admit(in, out fabric.ChannelID) bool {
	if j.Has(in, out) {
		return true
	}
	d := Dependency{in, out}
	if in == out || j.label[in] > j.label[out] && j.refused[d] {
		return false
	}
	if !j.Add(in, out) {
		if j.refused == nil {
			j.refused = map[Dependency]bool{}
		}
		j.refused[d] = true
		j.refusals = append(j.refusals, refusal{d, len(j.changes)})
		return false
	}
	j.changes = append(j.changes, change{Dependency: d})
	return true
}

// Remove takes a dependency out.
func (j *Journal) Remove(d Dependency) {
	j.Lanes.Remove(d.In, d.Out)
	j.changes = append(j.changes, change{Dependency: d, removed: true})
	j.forgetRefusals(0)
}

// Checkpoint is the number of changes so far, for Rollback.
func (j *Journal) Checkpoint() int { return len(j.changes) }

// Rollback takes all changes since a checkpoint back.
func (j *Journal) Rollback(to int) {
	for i := len(j.changes) - 1; i >= to; i-- {
		j.redo(change{Dependency: j.changes[i].Dependency, removed: !j.changes[i].removed})
	}
	j.changes = j.changes[:to]
	for n := len(j.refusals); n > 0 && j.refusals[n-1].changes > to; n-- {
		j.forgetRefusals(n - 1)
	}
}

// forgetRefusals keeps so many of the refusals, the oldest; what the others were about is tried again.
func (j *Journal) forgetRefusals(keep int) {
	for _, r := range j.refusals[keep:] {
		delete(j.refused, r.Dependency)
	}
	j.refusals = j.refusals[:keep]
}

// Forget makes all changes so far final.
func (j *Journal) Forget() {
	j.changes = j.changes[:0]
	for i := range j.refusals {
		j.refusals[i].changes = 0
	}
}

// Added is the dependencies that were added and not rolled back, for Restore. It is for a journal in
// which nothing was removed.
func (j *Journal) Added() []Dependency {
	list := make([]Dependency, len(j.changes))
	for i, c := range j.changes {
		list[i] = c.Dependency
	}
	return list
}

// Restore rolls everything back and adds what Added has found.
func (j *Journal) Restore(added []Dependency) {
	j.Rollback(0)
	for _, d := range added {
		j.redo(change{Dependency: d})
		j.changes = append(j.changes, change{Dependency: d})
	}
}

// redo makes a change that leads back to a graph which there was before.
func (j *Journal) redo(c change) {
	if c.removed {
		j.Lanes.Remove(c.In, c.Out)
	} else if !j.Lanes.Add(c.In, c.Out) {
		panic("acyclic: a dependency that was there closes a cycle")
	}
}
