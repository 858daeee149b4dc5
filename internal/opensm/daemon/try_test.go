package daemon

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Before a daemon begins it is said what it could not have. One that runs with these places is no error: it is told
// which, since settings are tried before a reload.
func TestTryConfiguration(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"updn"}, State: stateDir(t), Metrics: "127.0.0.1:0"})
	c := r.config
	if runs, err := c.Try(t.Context()); err != nil || runs == nil || runs.PID != os.Getpid() || runs.Name != "weft serve" {
		t.Errorf("%v, %v", runs, err)
	}
	dir := r.socketDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other, err := net.Listen("unix", filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	mine := filepath.Join(dir, "s")
	for name, x := range map[string]struct {
		socket, state, metrics string
		want                   string
	}{
		"all is free":                 {mine, filepath.Join(dir, "state"), "127.0.0.1:0", ""},
		"nothing is kept":             {mine, "", "", ""},
		"whose folder is made":        {filepath.Join(dir, "run", "s"), "", "", ""},
		"a socket that is a file":     {file, "", "", "socket: " + file + " is there and is no socket"},
		"a socket in a file":          {filepath.Join(file, "s"), "", "", "socket: " + file + " is a file"},
		"a socket of another":         {filepath.Join(dir, "other"), "", "", "another program answers there"},
		"a state folder that is none": {mine, file, "", "state: " + file + " is a file"},
		"a state folder in a file":    {mine, filepath.Join(file, "a"), "", "cannot be made: " + file + " is a file"},
		"the state folder of another": {mine, c.State, "", "state: " + c.State + " is in use by "},
		"an address of another":       {mine, "", l.Addr().String(), "metrics: " + l.Addr().String() + " is in use"},
	} {
		c := Config{Engine: Names{"updn"}, Socket: x.socket, State: x.state, Metrics: x.metrics}
		runs, err := c.Try(t.Context())
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) || runs != nil {
			t.Errorf("%s: %v, %v, want %q", name, runs, err, x.want)
		}
	}
	for _, port := range []string{"99999", "-1", "x-y-z", ""} {
		c := Config{Engine: Names{"updn"}, Socket: mine, Metrics: "127.0.0.1:" + port}
		if _, err := c.check(); err == nil || !strings.Contains(err.Error(), "is no port") {
			t.Errorf("%q: %v", port, err)
		}
	}
}
