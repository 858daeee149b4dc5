package collect

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/child"
)

// mostBytes is how much a session may print.
const mostBytes = 512 << 20

// session runs a command on a device and returns what it printed. An error says what to do.
func (r *run) session(ctx context.Context, d *Device, command, input string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := child.Command(ctx, r.o.SSH, r.arguments(d, command)...) // a jump host's ssh, that ssh started, ends with it
	p.Stdin = strings.NewReader(input)
	out, said := child.Head{Most: mostBytes, Full: cancel}, child.Head{Most: 64 << 10}
	p.Stdout, p.Stderr = &out, &said
	err := p.Run()
	switch {
	case out.Over:
		return nil, fmt.Errorf("it printed more than %d MiB", mostBytes>>20)
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("there is no program %s: install OpenSSH's client", r.o.SSH)
	case err != nil:
		return out.Bytes(), fmt.Errorf("%s", explain(d, said.Bytes(), err))
	}
	return out.Bytes(), nil
}

// arguments is what ssh is told: no questions, no forwarding, host keys checked.
func (r *run) arguments(d *Device, command string) []string {
	seconds := max(1, min(int(r.o.Timeout/time.Second), 15))
	list := []string{
		"-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes", "-o", "LogLevel=ERROR",
		"-o", "ConnectTimeout=" + strconv.Itoa(seconds), "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
	}
	check := "yes"
	if r.o.AcceptNew {
		check = "accept-new"
	}
	list = append(list, "-o", "StrictHostKeyChecking="+check)
	if r.o.KnownHosts != "" {
		list = append(list, "-o", "UserKnownHostsFile="+r.o.KnownHosts)
	}
	if r.o.Config != "" {
		list = append(list, "-F", r.o.Config)
	}
	if d.Port != 0 {
		list = append(list, "-p", strconv.Itoa(int(d.Port)))
	}
	if d.User != "" {
		list = append(list, "-l", d.User)
	}
	if d.Key != "" {
		list = append(list, "-i", d.Key, "-o", "IdentitiesOnly=yes")
	}
	return append(list, "--", d.Address, command)
}

// explain says why a session failed, and what to do.
func explain(d *Device, said []byte, err error) string {
	text := string(said)
	last := tail(said)
	name, port := d.Address, ""
	if d.Port != 0 && d.Port != 22 { // as known_hosts has it
		name, port = fmt.Sprintf("'[%s]:%d'", d.Address, d.Port), fmt.Sprintf("-p %d ", d.Port)
	}
	switch {
	case strings.Contains(text, "IDENTIFICATION HAS CHANGED"), strings.Contains(text, "host key for") && strings.Contains(text, "has changed"):
		return fmt.Sprintf("its host key is not the one that is known: if the device was exchanged, ssh-keygen -R %s takes the old one away (-f with --known-hosts)", name)
	case strings.Contains(text, "Host key verification failed"), strings.Contains(text, "host key is known"):
		return fmt.Sprintf("its host key is not known: ssh-keyscan %s%s prints it, to be checked and put into known_hosts (--known-hosts); --accept-new takes keys that are new", port, d.Address)
	case strings.Contains(text, "Permission denied"):
		return last + ": no key or certificate is accepted (user and key in the inventory, or ssh's configuration; passwords are not asked for)"
	case last != "":
		return last
	}
	return err.Error()
}
