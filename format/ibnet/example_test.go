package ibnet_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/weft-fabric/weft/format/ibnet"
)

// A host on a switch, as ibnetdiscover prints it, and as ibsim reads it.
func Example() {
	const dump = `vendid=0x2c9
switchguid=0x2c90200000001(2c90200000001)
Switch	3 "S-0002c90200000001"		# "leaf-1" enhanced port 0 lid 2 lmc 0
[1]	"H-0002c90300000010"[1](2c90300000011) 		# "host-1 HCA-1" lid 1 4xHDR

vendid=0x2c9
caguid=0x2c90300000010
Ca	1 "H-0002c90300000010"		# "host-1 HCA-1"
[1](2c90300000011) 	"S-0002c90200000001"[1]		# lid 1 lmc 0 "leaf-1" lid 2 4xHDR
`
	f, err := ibnet.Read(strings.NewReader(dump), "fabric.ibnetdiscover")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ibnet.Write(os.Stdout, f); err != nil {
		fmt.Println(err)
	}
	_, err = ibnet.Read(strings.NewReader(strings.Replace(dump, "[1](2c90300000011) ", "[9](2c90300000011) ", 1)), "fabric.ibnetdiscover")
	fmt.Println(err)
	// Output:
	// #
	// # Topology file: written by weft
	// #
	//
	// vendid=0x2c9
	// switchguid=0x2c90200000001(2c90200000001)
	// Switch	3 "S-0002c90200000001"		# "leaf-1" base port 0 lid 2 lmc 0
	// [1]	"H-0002c90300000010"[1](2c90300000011) 		# "host-1 HCA-1" lid 1 4xHDR
	//
	// vendid=0x2c9
	// caguid=0x2c90300000010
	// Ca	1 "H-0002c90300000010"		# "host-1 HCA-1"
	// [1](2c90300000011) 	"S-0002c90200000001"[1]		# lid 1 lmc 0 "leaf-1" lid 2 4xHDR
	//
	// fabric.ibnetdiscover:4: the peer "H-0002c90300000010" has 1 port by line 8, not a port 9
}
