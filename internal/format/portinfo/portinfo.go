// Package portinfo reads codes of PortInfo (InfiniBand Architecture 1, 14.2.5.6), which several
// formats print as they are.
package portinfo

// MostVLs is the largest code of OperationalVLs and VLCap.
const MostVLs = uint64(len(dataVLs) - 1)

var dataVLs = [...]uint8{1: 1, 2: 2, 3: 4, 4: 8, 5: 15}

// DataVLs is the data lanes that a code of OperationalVLs or VLCap up to MostVLs stands for; 0: it
// says nothing.
func DataVLs(code uint64) uint8 { return dataVLs[code] }
