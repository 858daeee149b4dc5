package packets

import (
	"testing"
	"unsafe"
)

// Packets and buffers are as long as a line of cache, as their comments say.
func TestSizes(t *testing.T) {
	if p, b := unsafe.Sizeof(packet{}), unsafe.Sizeof(buffer{}); p != 64 || b != 64 {
		t.Errorf("a packet has %d bytes and a buffer %d", p, b)
	}
}
