package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/weft-fabric/weft/internal/shell"
)

// socket is a listening Unix socket and the lock that keeps it ours.
type socket struct {
	path     string
	listener *net.UnixListener
	lock     *os.File
}

// listen makes a socket, mode 0660 and of a group (-1: the process's), taking away
// one that a killed daemon left. It appears under its name only when it is ready
// and nobody else can connect. A second daemon on the same path is refused.
func listen(path string, group int) (*socket, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := shell.Hold(lock, "the socket "+path); err != nil {
		lock.Close()
		return nil, err
	}
	l, err := bind(path, group)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &socket{path: path, listener: l, lock: lock}, nil
}

// madeAs is what the path of a socket has behind it until it is ready.
const madeAs = ".new/s"

// bind makes the socket, which nobody else does while the lock is held.
func bind(path string, group int) (*net.UnixListener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("%s is there and is no socket; nothing was touched", path)
	default:
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("something else answers on %s", path)
		}
	}
	temp := path + madeAs
	dir := filepath.Dir(temp)                                                    // ours alone as long as we hold the lock
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil { // nobody connects before it is ready
		return nil, err
	}
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // close does, under the name it has then
	err = os.Chmod(temp, 0o660)
	if group >= 0 {
		err = errors.Join(err, os.Chown(temp, -1, group))
	}
	if err = errors.Join(err, os.Rename(temp, path)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// close takes the socket away. The lock file stays: to remove it would let two
// daemons hold locks on two files of one name.
func (s *socket) close() {
	s.listener.Close()
	os.Remove(s.path)
	s.lock.Close()
}

// groupID finds a group by name or number; -1 for the empty name.
func groupID(name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n, nil
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(g.Gid)
}

// credentials is who is at the other end of a connection.
type credentials struct {
	pid      int
	uid, gid uint32
}

func (c credentials) String() string { return fmt.Sprintf("pid %d uid %d gid %d", c.pid, c.uid, c.gid) }

// permitted says why somebody may not ask: root, the daemon's own user and the
// members of the group may.
func (c credentials) permitted(group int) error {
	if group < 0 {
		group = os.Getgid()
	}
	if c.uid == 0 || int(c.uid) == os.Getuid() || int(c.gid) == group {
		return nil
	}
	if u, err := user.LookupId(strconv.Itoa(int(c.uid))); err == nil {
		if ids, err := u.GroupIds(); err == nil && slices.Contains(ids, strconv.Itoa(group)) {
			return nil
		}
	}
	return fmt.Errorf("user %d is not in group %d", c.uid, group)
}
