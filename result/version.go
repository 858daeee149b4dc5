package result

// Version names a build: its release, the commit that it was built from, and the Go that built it.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // the commit
	Go       string `json:"go"`
}
