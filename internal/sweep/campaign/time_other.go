//go:build !unix

package campaign

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
