package fabric

import (
	"fmt"
	"slices"
)

// assignLIDs sets the LID of every endpoint. A LID range from the source is kept if it
// is valid (1 … MaxLID), aligned to its LMC and claimed by one endpoint only. Every
// other endpoint gets the lowest free aligned range, in the order of endpoints.
func (b *Builder) assignLIDs(f *Fabric) error {
	if b.WithoutLIDs && len(f.endpoints) > int(MaxLID) {
		for i := range f.endpoints {
			f.endpoints[i].LID, f.endpoints[i].LMC = 0, 0
		}
		f.lidOwner, f.given = []EndpointID{None}, make([]bool, len(f.endpoints))
		return nil
	}
	top, most := 0, 1 // the highest LID claimed; how far LIDs can come beyond it, and LID 0
	for i := range f.endpoints {
		e := &f.endpoints[i]
		if e.LMC > 7 {
			return fmt.Errorf("%s port %d has LMC %d; it is 0 to 7", f.Label(e.Node), e.Port, e.LMC)
		}
		if e.hasValidLID() {
			top = max(top, int(e.LID)+e.width()-1)
		}
		most += 2 * e.width() // a range above all others, and what lies below it until it is aligned
	}
	most = min(top+most, int(MaxLID)+1) // so that small networks have small arrays
	claims := make([]int32, most)       // [LID] how many endpoints claim it
	for i := range f.endpoints {
		if e := &f.endpoints[i]; e.hasValidLID() {
			for l := range e.width() {
				claims[int(e.LID)+l]++
			}
		}
	}
	var without, unset []EndpointID                  // those to be given LIDs, and those of them for which the source has none
	owner := slices.Repeat([]EndpointID{None}, most) // [LID]
	for i := range f.endpoints {
		e := &f.endpoints[i]
		switch {
		case e.LID == 0 || e.LID == 0xFFFF:
			without, unset = append(without, EndpointID(i)), append(unset, EndpointID(i))
			continue
		case !e.hasValidLID():
			f.warnings = append(f.warnings, fmt.Sprintf("%s port %d: LID %d with LMC %d is not valid; another is assigned", f.Label(e.Node), e.Port, e.LID, e.LMC))
			without = append(without, EndpointID(i))
			continue
		case claimedTwice(claims, e):
			f.warnings = append(f.warnings, fmt.Sprintf("%s port %d: LID %d belongs to another port too; another is assigned", f.Label(e.Node), e.Port, e.LID))
			without = append(without, EndpointID(i))
			continue
		}
		for l := range e.width() {
			owner[int(e.LID)+l] = EndpointID(i)
		}
	}
	if err := f.assignFree(without, owner); err != nil {
		return err
	}
	f.given = make([]bool, len(f.endpoints))
	for _, e := range without {
		f.given[e] = true
	}
	if b.expectLIDs && len(unset) > 0 {
		f.warnGivenLIDs(unset)
	}
	top = most - 1
	for top > 0 && owner[top] == None {
		top--
	}
	f.lidOwner = owner[: top+1 : top+1]
	return nil
}

// assignFree gives each endpoint of a list the lowest free range of LIDs, in f and in owner, [LID].
func (f *Fabric) assignFree(without []EndpointID, owner []EndpointID) error {
	var next [8]int // [LMC] where the search for a free range continues
	for _, i := range without {
		e := &f.endpoints[i]
		step := e.width()
		lid := max(next[e.LMC], step)
		for lid+step-1 <= int(MaxLID) && !free(owner[lid:lid+step]) {
			lid += step
		}
		if lid+step-1 > int(MaxLID) {
			return fmt.Errorf("no LID left for %s port %d: the network needs more than the %d that InfiniBand has", f.Label(e.Node), e.Port, MaxLID)
		}
		e.LID = LID(lid)
		for l := range step {
			owner[lid+l] = i
		}
		next[e.LMC] = lid + step
	}
	return nil
}

// warnGivenLIDs warns of the endpoints to which the source gives no LID.
func (f *Fabric) warnGivenLIDs(unset []EndpointID) {
	first := fmt.Sprintf("%s (LID %d)", f.EndpointLabel(unset[0]), f.endpoints[unset[0]].LID)
	const fit = "tables from elsewhere, which go by LIDs, do not fit"
	if len(unset) == 1 {
		f.warnings = append(f.warnings, fmt.Sprintf("%s has no LID of its own (0 or 65535, or none): weft gives it one, and %s there", first, fit))
		return
	}
	f.warnings = append(f.warnings, fmt.Sprintf("%d ports have no LIDs of their own (0 or 65535, or none): weft gives them some, and %s there; the first is %s", len(unset), fit, first))
}

// free reports whether no LID of a range has an owner.
func free(owner []EndpointID) bool {
	for _, o := range owner {
		if o != None {
			return false
		}
	}
	return true
}

// claimedTwice reports whether another endpoint claims a LID of e too. claims is how many claim each, [LID].
func claimedTwice(claims []int32, e *Endpoint) bool {
	for l := range e.width() {
		if claims[int(e.LID)+l] > 1 {
			return true
		}
	}
	return false
}

// width is how many LIDs the endpoint has, or wants.
func (e *Endpoint) width() int { return 1 << e.LMC }

// hasValidLID reports whether its LIDs, as the source gives them, are LIDs and aligned.
func (e *Endpoint) hasValidLID() bool {
	return e.LID != 0 && int(e.LID)+e.width()-1 <= int(MaxLID) && int(e.LID)%e.width() == 0
}
