package flags

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/reading"
)

// NotEthernet has a command whose first argument is a FABRIC refuse lossless Ethernet before it
// asks for flags that no such network has a use for.
func NotEthernet(c *cobra.Command) *cobra.Command {
	c.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || HasNetwork(args[0]) {
			return nil
		}
		return refuseEthernet(args[0])
	}
	return c
}

// refuseEthernet is the error for a lossless Ethernet network where a fabric is needed; nil: it is none.
func refuseEthernet(arg string) error {
	if !isEthernet(arg) && !IsContainerlab(arg) && !IsNS3(arg) {
		return nil
	}
	return exit.Usage("%s is a lossless Ethernet network; weft info, report, explain, export, verify, diff, what-if, watch, simulate, compare, route --pin, priorities and packets take those, and this command does not", arg)
}

// isEthernet reports whether a folder has what devices of Ethernet say of themselves.
func isEthernet(dir string) bool {
	for _, pattern := range [...]string{"*route*.json*", "*route*.txt*", "*config_db.json*", "*interface*.json*", "*minigraph.xml*"} {
		for _, below := range [...]string{".", "*"} {
			if found, err := filepath.Glob(filepath.Join(dir, below, pattern)); err == nil && len(found) > 0 {
				return true
			}
		}
	}
	return false
}

// openRegular opens a regular file to see of what kind it is; nil: it is none, or cannot be opened. A
// pipe is left alone, since it can be read once only.
func openRegular(name string) io.ReadCloser {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := reading.OpenPlain(name)
	if err != nil {
		return nil
	}
	return f
}

// IsNS3 reports whether a file begins as the topology.txt of ns-3 does: three numbers in the first
// line, or SimAI's five and a word, and as many in what follows as they say of switches.
func IsNS3(name string) bool {
	f := openRegular(name)
	if f == nil {
		return false
	}
	defer f.Close()
	lines := reading.NewLines(io.LimitReader(f, 64<<10), name)
	if !lines.Next() {
		return false
	}
	c := lines.Text()
	var head []uint64
	for n, ok := c.Uint(math.MaxInt32); ok; n, ok = c.Uint(math.MaxInt32) {
		head = append(head, n)
	}
	var switches uint64
	switch {
	case len(head) == 3 && c.Empty():
		switches = head[1]
	case len(head) == 5 && len(c.Word()) > 0 && c.Empty():
		switches = head[3]
	}
	if switches == 0 || switches > head[0] || !lines.Next() {
		return false
	}
	c = lines.Text()
	n, ok := c.Uint(math.MaxInt32)
	return ok && n < head[0]
}

// IsContainerlab reports whether a file is one of Containerlab: by its name, or YAML with a topology,
// as lab.clab.yml is a custom and no rule.
func IsContainerlab(name string) bool {
	if strings.HasSuffix(name, ".clab.yml") || strings.HasSuffix(name, ".clab.yaml") {
		return true
	}
	if !strings.HasSuffix(name, ".yml") && !strings.HasSuffix(name, ".yaml") {
		return false
	}
	f := openRegular(name)
	if f == nil {
		return false
	}
	defer f.Close()
	lines := reading.NewLines(f, name)
	for lines.Next() {
		if bytes.HasPrefix(lines.Text(), []byte("topology:")) { // at the margin
			return true
		}
	}
	return false
}
