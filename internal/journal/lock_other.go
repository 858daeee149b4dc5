//go:build !unix

package journal

import "os"

// lock does nothing where files have no locks of this kind: one process at a time is up to
// the user there.
func lock(*os.File) error { return nil }

// noFollow is for systems that have it.
const noFollow = 0
