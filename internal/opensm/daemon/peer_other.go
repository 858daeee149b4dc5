//go:build !linux

package daemon

import (
	"errors"
	"net"
)

// peerOf refuses: without SO_PEERCRED the user at the other end is not known.
func peerOf(*net.UnixConn) (credentials, error) {
	return credentials{}, errors.New("this system does not say who connects; OpenSM and weft serve run on Linux")
}
