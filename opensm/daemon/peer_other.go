//go:build !linux

package daemon

import (
	"errors"
	"net"
)

// peerOf refuses: without SO_PEERCRED nobody can be told apart.
func peerOf(*net.UnixConn) (credentials, error) {
	return credentials{}, errors.New("daemon: this system does not say who connects; OpenSM and weft serve run on Linux")
}
