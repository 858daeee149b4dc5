package certificate_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// A proof that others can check: written, read, and held against the tables.
func Example() {
	f, err := topology.Build("ring:4")
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := engines.Named("updn")
	if err != nil {
		fmt.Println(err)
		return
	}
	tables, err := engine.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := deadlock.Verify(context.Background(), tables, deadlock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var text bytes.Buffer
	if err := certificate.Write(&text, f, verdict.Certificate); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(text.String()) {
		fmt.Println(strings.TrimSpace(line))
	}
	proof, err := certificate.Read(&text, "certificate", f)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = deadlock.CheckCertificate(context.Background(), tables, proof, nil)
	fmt.Println("holds:", err == nil)
	// Output:
	// weft certificate 1
	// contract honored
	// endpoints hca
	// lanes 8
	// # switch GUID, out-port, lane, rank
	// 0x0002c90100000000 2 0 2
	// 0x0002c90100000000 3 0 1
	// 0x0002c90100000100 2 0 0
	// 0x0002c90100000100 3 0 0
	// 0x0002c90100000200 2 0 0
	// 0x0002c90100000200 3 0 0
	// 0x0002c90100000300 2 0 1
	// 0x0002c90100000300 3 0 2
	// end 8
	// holds: true
}
