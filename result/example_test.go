package result_test

import (
	"encoding/json"
	"fmt"

	"github.com/weft-fabric/weft/result"
)

// What weft verify --json printed, read by a program: the verdict, and where the loop is.
func ExampleVerify() {
	printed := []byte(`{
		"verdict": "credit-loop", "contract": "any", "endpoints": "hca", "dependencies": 40, "pairs": 90, "unreachable": 0,
		"cycle": [
			{"from": "sw-1, port 2", "to": "sw-2, port 3", "vl": 0, "sl": 0, "src": "host-1", "dst": "host-3"},
			{"from": "sw-2, port 2", "to": "sw-1, port 3", "vl": 0, "sl": 0, "src": "host-2", "dst": "host-4"}]}`)
	var v result.Verify
	if err := json.Unmarshal(printed, &v); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("free:", v.Free(), "under contract", v.Contract)
	for _, step := range v.Cycle {
		fmt.Println(step.From, "waits because of", step.Src, "to", step.Dst)
	}
	// Output:
	// free: false under contract any
	// sw-1, port 2 waits because of host-1 to host-3
	// sw-2, port 2 waits because of host-2 to host-4
}
