// Package service is what weft serve and weft watch have in common as services: their log, and
// what the service manager is told.
package service

import (
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
)

// Log logs on standard error in the form of --log, text or json.
func Log(a *console.Console, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, nil))
}

// Tell tells the service manager how far the daemon is, if one asked.
func Tell(log *slog.Logger, what string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	if abstract, ok := strings.CutPrefix(name, "@"); ok {
		name = "\x00" + abstract
	}
	c, err := net.Dial("unixgram", name)
	if err == nil {
		defer c.Close()
		_, err = c.Write([]byte(what))
	}
	if err != nil {
		log.Warn("the service manager was not told", "error", err)
	}
}
