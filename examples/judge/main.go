// Command judge is a gate for continuous integration: it judges the tables that somebody wants to
// deploy, prints a credit loop and who is cut off, and exits with 1 if there is either.
//
//	go run ./examples/judge NETWORK LFTS [SL2VL [PSL]]
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/routing"
)

func main() {
	log.SetFlags(0)
	fine, err := judge(os.Args[1:])
	if err != nil {
		log.Println(err) // says which line of which file is wrong
		os.Exit(3)
	}
	if !fine {
		os.Exit(1)
	}
}

// judge prints what is wrong with the tables of the arguments, and reports whether nothing is: no loop, nobody cut off.
func judge(args []string) (fine bool, err error) {
	if len(args) < 2 || len(args) > 4 {
		return false, errors.New("usage: judge NETWORK LFTS [SL2VL [PSL]]")
	}
	args = append(args, "", "") // no file of these that are left out
	f, err := files.Open(args[0])
	if err != nil {
		return false, err
	}
	t, err := files.OpenTables(f, files.Names{LFTs: args[1], SL2VL: args[2], PSL: args[3]})
	if err != nil {
		return false, err
	}
	v, err := deadlock.Verify(context.Background(), t, deadlock.Options{Contract: routing.Honored, Lost: 5})
	if err != nil {
		return false, err
	}
	fmt.Printf("%d pairs, %d without a route; %d dependencies between lanes\n", v.Pairs, v.Unreachable, v.Dependencies)
	for _, l := range v.Lost {
		fmt.Printf("cut off: %s does not reach LID %d: %s\n", f.Label(l.Switch), l.LID, l.Why)
	}
	for i, step := range v.Cycle {
		c := f.Channel(step.Trunk)
		fmt.Printf("step %d of the credit loop: %s to %s on VL %d, for packets from %s to LID %d\n",
			i+1, f.PortLabel(c.From, c.FromPort), f.PortLabel(c.To, c.ToPort), step.VL, f.EndpointLabel(step.Src), step.Dst)
	}
	if v.Free() {
		fmt.Println("proven free of deadlock")
	}
	return v.Free() && v.Complete(), nil
}
