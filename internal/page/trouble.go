package page

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// inTrouble is the kind of the oddity that cables in trouble make, which the map shows.
const inTrouble = "in-trouble"

// AddTrouble adds the cables in trouble, which are shown with what to do, and marked on the map.
func AddTrouble(n *result.ReportNetwork, f *fabric.Fabric, l *result.Trouble) {
	if n.Trouble = l; len(l.Cables) == 0 {
		return
	}
	cables := map[string]int{} // by the plug at either end
	plug := func(node int32, port int32) string { return fmt.Sprint(node, " ", port) }
	for i := range n.Cables.A {
		cables[plug(n.Cables.A[i], n.Cables.APort[i])] = i
		cables[plug(n.Cables.B[i], n.Cables.BPort[i])] = i
	}
	odd := result.ReportOdd{Kind: inTrouble, What: words.Counted(len(l.Cables), "cable is", "cables are") + " in trouble", Places: []result.ReportPlace{}}
	for _, c := range l.Cables {
		p := result.ReportPlace{Text: c.Name + ": " + c.Signs[0].Text, A: c.Ends[0], B: c.Ends[1], Cable: -1}
		if at, ok := cables[plug(int32(c.Ends[0]), int32(c.A.Port))]; ok && !c.Gone {
			p.Cable = at
			n.Cables.Odd[at] = int32(len(n.Odd)) + 1
		}
		odd.Places = append(odd.Places, p)
	}
	n.Odd = append(n.Odd, odd)
}
