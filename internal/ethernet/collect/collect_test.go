package collect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
)

// systems is devices as programs that are on their path: what each prints, or how it fails.
var systems = map[string]map[string]string{
	// FRR 8 as root.
	"frr": {"vtysh": `case "$2" in
'show version') echo 'FRRouting 8.4.4 (frr) on Linux(6.1).';;
'show ip route json'|'show ipv6 route json') echo '{}';;
'show interface vrf all json') echo '{"eth0":{"administrativeStatus":"up","operationalStatus":"up"}}';;
'show running-config') printf 'router bgp 65001\n neighbor 10.0.0.1 password hunter2\n';;
*) echo "Unknown: $2" >&2; exit 1;; esac`, "ip": `case "$*" in '-j neigh show') echo '[{"dst":"10.1.0.7","dev":"vlan1","lladdr":"00:00:00:00:00:01","state":["REACHABLE"]}]';; esac`},
	// An old one, which warns, asks for sudo, and does not say interfaces as JSON.
	"old": {"vtysh": `[ -n "$ROOT" ] || { echo 'failed to connect to any daemons.' >&2; exit 1; }
echo 'vtysh.conf: permission denied' >&2
case "$2" in
'show version') echo 'FRRouting 7.5.1 (old).';;
'show ip route json'|'show ipv6 route json') echo '{}';;
'show running-config') echo 'router bgp 65002';;
*) echo "% Unknown command: $2";; esac`, "sudo": `shift; ROOT=1 exec "$@"`, "ip": `case "$*" in '-j -d address show') echo '[{},{"ifname":"eth0","operstate":"UP","addr_info":[{"local":"10.0.0.1","prefixlen":31}]}]';; *) exit 1;; esac`},
	// SONiC, whose LLDP runs in a container.
	"sonic": {"vtysh": `case "$2" in 'show version') echo 'FRRouting 8.5.4 (sonic).';; *json) echo '{}';; *) echo 'router bgp 65100';; esac`,
		"cat": `case "$*" in *sonic_version*) echo "build_version: '202311.1'";; *) exec /bin/cat "$@";; esac`, "sonic-cfggen": `echo '{"PORT": {}}'`,
		"docker": `[ "$*" = 'exec lldp lldpcli -f json show neighbors' ] && echo '{"lldp": {}}'`},
	// One without routes, one that breaks off, one that never ends.
	"nothing": {}, "slow": {"vtysh": "exec sleep 60"},
}

// sshOf is a program in place of ssh: it runs what it is told here, with the programs of a device on the path, or as EOS.
func sshOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for system, programs := range systems {
		for _, absent := range []string{"vtysh", "lldpcli", "docker", "nv", "sonic-cfggen", "ip", "sudo"} {
			write(filepath.Join(system, absent), "exit 127")
		}
		for name, text := range programs {
			write(filepath.Join(system, name), text)
		}
	}
	write("ssh", `while [ "$1" != -- ]; do shift; done
case $2 in
eos) case $3 in
	'show version | json') echo '{"version": "4.31.0F"}';;
	*route*) echo '{"vrfs": {"default": {"routes": {}}}}';;
	*lldp*) echo '{"lldpNeighbors": []}';;
	*bgp) echo 'router bgp 65003';;
	*) echo "% Invalid input"; exit 1;; esac;;
away) echo 'ssh: connect to host away port 22: No route to host' >&2; exit 255;;
broken) PATH="`+dir+`/frr:/usr/bin:/bin" sh -c "$3" | head -c 300;;
*) PATH="`+dir+`/$2:/usr/bin:/bin" exec sh -c "$3";;
esac`)
	return filepath.Join(dir, "ssh")
}

// A command that hangs ends on the device too, which goes on with the next.
func TestHanging(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"vtysh": "case $2 in *'ip route'*) sleep 50 & wait;; *) echo '{}';; esac", "sudo": "exit 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	p := exec.CommandContext(ctx, "sh", "-s")
	p.Stdin, p.Env = strings.NewReader(script("mark", "default", time.Second)), []string{"PATH=" + dir + ":/usr/bin:/bin"}
	out, err := p.Output()
	if err != nil || !strings.Contains(string(out), "mark no route 124\n") || !strings.Contains(string(out), "\nmark done\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Whoever has to do with host keys is told the name by which they are known.
func TestHostKeys(t *testing.T) {
	t.Parallel()
	for port, want := range map[uint16]string{0: "ssh-keygen -R leaf1 takes", 22: "ssh-keygen -R leaf1 takes", 2201: "ssh-keygen -R '[leaf1]:2201' takes"} {
		if got := explain(&Device{Address: "leaf1", Port: port}, []byte("IDENTIFICATION HAS CHANGED"), nil); !strings.Contains(got, want) {
			t.Errorf("port %d: %s", port, got)
		}
	}
	if got := explain(&Device{Address: "leaf1", Port: 2201}, []byte("Host key verification failed."), nil); !strings.Contains(got, "ssh-keyscan -p 2201 leaf1 prints") {
		t.Error(got)
	}
}

// Each kind of device is asked by the commands that it has; what fails leaves nothing, and the next run asks it alone.
func TestRun(t *testing.T) {
	t.Parallel()
	var devices []Device
	for _, name := range []string{"frr", "old", "sonic", "eos", "nothing", "broken", "away"} {
		devices = append(devices, Device{Name: name, Address: name})
	}
	dir := filepath.Join(t.TempDir(), "net")
	o := Options{SSH: sshOf(t), Parallel: 8, Timeout: 5 * time.Minute} // none of them waits
	records, err := Run(context.Background(), dir, devices, o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ system, errs, commands string }{
		"frr":     {"FRR 8.4.4", "", "vtysh -c 'show ip route json'; vtysh -c 'show ipv6 route json'; vtysh -c 'show interface vrf all json'; vtysh -c 'show running-config'; ip -j neigh show"},
		"old":     {"FRR 7.5.1", "", "sudo -n vtysh -c 'show ip route json'; sudo -n vtysh -c 'show ipv6 route json'; ip -j -d address show; sudo -n vtysh -c 'show running-config'"},
		"sonic":   {"SONiC 202311.1, FRR 8.5.4", "", "vtysh -c 'show ip route json'; vtysh -c 'show ipv6 route json'; vtysh -c 'show interface vrf all json'; docker exec lldp lldpcli -f json show neighbors; sonic-cfggen -d --print-data; vtysh -c 'show running-config'"},
		"eos":     {"EOS 4.31.0F", "", "show ip route | json; show ipv6 route | json; show lldp neighbors detail | json; show running-config section bgp"},
		"nothing": {"", "no IPv4 routes: vtysh -c 'show ip route json': there is no such program", ""},
		"broken":  {"", "the session ended", ""},
		"away":    {"", "No route to host", ""},
	}
	for _, r := range records {
		w := want[r.Device]
		var commands []string
		for _, f := range r.Files {
			if f.Command != "" {
				commands = append(commands, f.Command)
			}
		}
		if w.errs != "" && !strings.Contains(r.Error, w.errs) || w.errs == "" && (r.Error != "" || r.System != w.system || strings.Join(commands, "; ") != w.commands) {
			t.Errorf("%+v\n%s", r, strings.Join(commands, "; "))
		}
		if _, err := os.Stat(filepath.Join(dir, r.Device)); (err == nil) != (w.errs == "") {
			t.Errorf("%s: %v", r.Device, err)
		}
	}
	if text := read(t, dir, "frr/frr.conf"); strings.Contains(text, "hunter2") || !strings.Contains(text, "router bgp 65001") {
		t.Errorf("%s", text)
	}
	if _, err := Run(context.Background(), dir, devices, o); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a folder that is there: %v", err)
	}
	o.Resume = true
	if records, err = Run(context.Background(), dir, devices[:5], o); err != nil || !records[0].Kept || records[4].Kept || records[4].Error == "" {
		t.Errorf("%v %+v", err, records)
	}
	o.Resume, o.Force, o.SSH = false, true, "/nowhere/ssh"
	if records, err = Run(context.Background(), dir, devices[:1], o); err != nil || records[0].Error == "" {
		t.Errorf("%v %+v", err, records)
	}
	if _, err := os.Stat(filepath.Join(dir, "frr")); err == nil {
		t.Error("what did not answer when all were asked anew is still there")
	}
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), dir, devices[:1], o); err == nil || !strings.Contains(err.Error(), "mine, which weft collect did not gather") {
		t.Error(err)
	}
}

// A run that asks all anew leaves what was there until all have answered, and when it is killed after that the next one
// ends it: a folder is of one day.
func TestAnewIsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "net")
	device := func(name string) Device { return Device{Name: name, Address: name} }
	o := Options{SSH: sshOf(t), Parallel: 1, Timeout: 5 * time.Minute}
	if _, err := Run(t.Context(), dir, []Device{device("frr"), device("sonic")}, o); err != nil {
		t.Fatal(err)
	}
	mark := func(text string) { // files of the day
		for _, name := range []string{"frr", "sonic"} {
			if err := os.WriteFile(filepath.Join(dir, name, "frr.conf"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	mark("yesterday\n")
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil { // until the first has answered
			if _, err := os.Stat(filepath.Join(dir, unfinished, "frr", Name)); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		interrupt()
	}()
	o.Force = true
	if _, err := Run(ctx, dir, []Device{device("frr"), device("slow"), device("sonic")}, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, name := range []string{"frr", "sonic"} {
		if text := read(t, dir, name+"/frr.conf"); text != "yesterday\n" {
			t.Errorf("%s after an interruption: %q", name, text)
		}
	}
	// Killed when it had begun to put folders in their places: frr has its own, sonic has none, old did not answer.
	if err := errors.Join(os.Mkdir(filepath.Join(dir, unfinished), 0o700), os.Rename(filepath.Join(dir, "sonic"), filepath.Join(dir, unfinished, "sonic")),
		os.CopyFS(filepath.Join(dir, "old"), os.DirFS(filepath.Join(dir, "frr"))),
		os.WriteFile(filepath.Join(dir, unfinished, Name), []byte(`[{"device": "frr"}, {"device": "sonic"}, {"device": "old", "error": "away"}]`), 0o600)); err != nil {
		t.Fatal(err)
	}
	o.Force, o.Resume = false, true
	records, err := Run(t.Context(), dir, []Device{device("frr"), device("sonic")}, o)
	if err != nil || !records[0].Kept || !records[1].Kept {
		t.Errorf("%+v, %v", records, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 || read(t, dir, "sonic/frr.conf") != "yesterday\n" {
		t.Errorf("%v, %v", left, err)
	}
}

// A device that never ends is left, and said.
func TestSlow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "net")
	records, err := Run(t.Context(), dir, []Device{{Name: "slow", Address: "slow"}}, Options{SSH: sshOf(t), Parallel: 1, Timeout: time.Second})
	if err != nil || len(records) != 1 || records[0].Error != "it did not answer within 1s (--timeout)" {
		t.Errorf("%+v, %v", records, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "slow")); err == nil {
		t.Error("there is a folder of it")
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	f, err := reading.OpenPlain(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := reading.ReadAll(f, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestInventory(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"ours":      {"user: admin\nhosts:\n  leaf1: 10.0.0.1\n  leaf2: {address: 10.0.0.2, port: 2222, user: root}\n  leaf3:\n", "leaf1 10.0.0.1 0 admin; leaf2 10.0.0.2 2222 root; leaf3 leaf3 0 admin"},
		"Ansible's": {"all:\n  vars: {ansible_user: admin, anything: [1]}\n  children:\n    leaves:\n      hosts:\n        leaf[09:10]: {ansible_port: 2222, bgp_asn: 65001}\n    spines:\n      vars: {ansible_user: root}\n      hosts:\n        spine1: {ansible_host: 10.0.0.9}\n", "leaf09 leaf09 2222 admin; leaf10 leaf10 2222 admin; spine1 10.0.0.9 0 root"},
		"option":    {"hosts: {leaf1: -oProxyCommand=reboot}", `leaf1: "-oProxyCommand=reboot" is not an address`},
		"way":       {"hosts: {../leaf1: }", "cannot be the name of a device"},
		"twice":     {"hosts:\n  leaf1:\n  leaf[1:2]:\n", "inventory:3: leaf1 a second time, first in line 2"},
		"unknown":   {"hosts: {leaf1: {host: 10.0.0.1}}", `what is "host"?`},
		"template":  {"all:\n  hosts:\n    a: {ansible_host: '{{ ip }}'}\n", "template"},
		"port":      {"hosts: {leaf1: {port: 70000}}", `"70000" is not a port`},
		"empty":     {"", "no inventory"},
		"none":      {"hosts: {}", "no host"},
		"circle":    {"all: &a\n  children:\n    all: *a\n", "groups inside each other"},
		"range":     {"hosts: {\"leaf[1:99999999]\": }", "no range"},
	} {
		list, err := ReadInventory(strings.NewReader(c.text), "inventory")
		var got []string
		for _, d := range list {
			got = append(got, strings.Join([]string{d.Name, d.Address, itoa(d.Port), d.User}, " "))
		}
		if text := strings.Join(got, "; "); err == nil && text != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v; want %q", name, text, err, c.want)
		}
	}
}

func itoa(n uint16) string {
	text := ""
	for ; n > 0 || text == ""; n /= 10 {
		text = string(rune('0'+n%10)) + text
	}
	return text
}

// FuzzAnswers: whatever a device says, its answer is whole or refused.
func FuzzAnswers(f *testing.F) {
	f.Add("m try route vtysh\nm file route\n{}\n\nm end route\nm done\n")
	f.Add("m no\nm try\nm end\n")
	f.Fuzz(func(t *testing.T, out string) {
		a := &answers{}
		if err := a.parse([]byte(out), "m"); err != nil {
			return
		}
		a.system()
		for i, file := range a.list() {
			if file.File == "" && file.Missing == "" {
				t.Fatalf("file %d is neither there nor missing", i)
			}
		}
	})
}

func FuzzInventory(f *testing.F) {
	f.Add("hosts: {leaf[1:2]: {address: a}}")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadInventory(strings.NewReader(text), "inventory")
		if err == nil && len(list) == 0 {
			t.Fatal("no host, and no error")
		}
	})
}
