package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/shell"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Try says what of a configuration that was checked could not be had by a daemon that begins now: its socket, its state
// folder, its address. runs is the daemon that has the socket already, which takes the configuration over by a reload;
// nil: none does.
func (c Config) Try(ctx context.Context) (runs *shell.Holder, err error) {
	if runs, err = trySocket(ctx, c.Socket); err != nil {
		return nil, c.at("socket", err)
	}
	if c.State != "" {
		if err := shell.TryFolder("state", c.State); err != nil {
			return nil, c.at("state", err)
		}
		if by := shell.FolderHeldBy(c.State); by != nil && (runs == nil || runs.PID != by.PID) {
			return nil, c.at("state", fmt.Errorf("state: %s is in use by %s", c.State, by))
		}
	}
	if by, err := shell.TryAddress(ctx, "metrics", c.Metrics); err != nil && (runs == nil || by != "weft serve") {
		return nil, c.at("metrics", err)
	}
	return runs, nil
}

// trySocket is an error if no socket could be made at a path, unless because a daemon answers there: that is
// returned.
func trySocket(ctx context.Context, path string) (*shell.Holder, error) {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err == nil || !errors.Is(err, os.ErrNotExist) { // else whoever begins the daemon makes it
		if err == nil && !info.IsDir() {
			return nil, fmt.Errorf("socket: %s is %s, and no folder", dir, whole.KindOf(info.Mode()))
		}
		if err := shell.TryFolder("socket", dir); err != nil {
			return nil, err
		}
	}
	switch info, err := os.Lstat(path); {
	case err != nil: // it is not there
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("socket: %s is there and is no socket", path)
	default:
		c, err := net.Dial("unix", path)
		if err != nil {
			break // of a daemon that was killed
		}
		c.Close()
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		var s result.Status
		if text, err := wire.AskStatus(ctx, path); err == nil && json.Unmarshal(text, &s) == nil && s.PID > 0 {
			return &shell.Holder{PID: s.PID, Name: "weft serve"}, nil
		}
		by := shell.HeldBy(path + ".lock")
		if by == nil {
			return nil, fmt.Errorf("socket: %s is in use: another program answers there", path)
		}
		return by, nil
	}
	return nil, nil
}
