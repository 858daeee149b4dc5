package changes

import (
	"fmt"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// movedText names what has moved, behind some words; empty if nothing has.
func movedText(behind string, moved []result.MovedEndpoint) string {
	if len(moved) == 0 {
		return ""
	}
	return behind + words.Counted(len(moved), "endpoint is new, elsewhere or has other LIDs", "endpoints are new, elsewhere or have other LIDs") + ": " +
		words.FirstOf(list.Of(moved, func(m result.MovedEndpoint) string { return m.Text }))
}

// anewText says who has to ask for their paths anew.
func anewText(p *change.Proven) string {
	f := p.After.Fabric
	return fmt.Sprintf("%s to ask for paths anew: %s", words.Counted(len(p.Anew), "has", "of them have"), words.FirstOf(list.Of(p.Anew, f.EndpointLabel)))
}
