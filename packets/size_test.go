package packets

import (
	"testing"
	"unsafe"
)

// A packet is as long as a line of cache, and so are two far ends of buffers, as their
// comments say.
func TestSizes(t *testing.T) {
	if p, n, f := unsafe.Sizeof(packet{}), unsafe.Sizeof(near{}), unsafe.Sizeof(far{}); p != 64 || n != 48 || f != 32 {
		t.Errorf("a packet has %d bytes, the ends of a buffer %d and %d", p, n, f)
	}
}
