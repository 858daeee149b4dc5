package daemon

import (
	"fmt"
	"net"
	"syscall"
)

// peerOf asks the kernel who connected.
func peerOf(c *net.UnixConn) (credentials, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credentials{}, err
	}
	var cred *syscall.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) {
		cred, asked = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return credentials{}, err
	}
	if asked != nil {
		return credentials{}, fmt.Errorf("SO_PEERCRED: %w", asked)
	}
	return credentials{int(cred.Pid), cred.Uid, cred.Gid}, nil
}
