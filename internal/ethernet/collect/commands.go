package collect

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/ethernet/frr"
	"github.com/weft-fabric/weft/internal/ethernet/lldp"
	"github.com/weft-fabric/weft/internal/ethernet/pauses"
	"github.com/weft-fabric/weft/internal/ethernet/sonic"
	"github.com/weft-fabric/weft/internal/words"
)

// file is a file of a device, with the commands that may print it: the first that prints what can be read counts.
// VRF in a command is replaced.
type file struct {
	name     string
	what     string
	form     string // of the output: json, text, or table
	commands []string
	eos      string // of Arista's EOS, whose shell is its command line
	read     func(r io.Reader, name string) error
	needed   bool   // without, the device says nothing
	lacking  string // what follows where it is missing
	sonic    bool   // only SONiC has it
}

// sudo is commands, and behind each the same as root, without asking for a password.
func sudo(commands ...string) []string {
	var list []string
	for _, c := range commands {
		list = append(list, c, "sudo -n "+c)
	}
	return list
}

// files is all that is asked. What older versions do not know has others behind it: FRR says interfaces as JSON
// from 8.1 on; before, the kernel says them.
var files = [...]file{
	{
		name: "route", what: "IPv4 routes", form: "json", needed: true,
		commands: append(sudo("vtysh -c 'show ip route vrf VRF json'"), "nv show vrf VRF router rib ipv4 route -o json"),
		eos:      "show ip route vrf VRF | json",
		read:     readRoutes,
	},
	{
		name: "route6", what: "IPv6 routes", form: "json", lacking: "IPv6 is not judged",
		commands: append(sudo("vtysh -c 'show ipv6 route vrf VRF json'"), "nv show vrf VRF router rib ipv6 route -o json"),
		eos:      "show ipv6 route vrf VRF | json",
		read:     readRoutes,
	},
	{
		name: "interface", what: "interfaces", form: "json", lacking: "addresses and what is down are not known; cables have to come from LLDP or config_db.json",
		commands: append(sudo("vtysh -c 'show interface vrf all json'"), "ip -j -d address show"),
		read: func(r io.Reader, name string) error {
			_, err := frr.ReadInterfaces(r, name)
			return err
		},
	},
	{
		name: "lldp", what: "LLDP", form: "json", lacking: "cables have to come from subnets of two addresses or config_db.json",
		commands: append(sudo("lldpcli -f json show neighbors", "docker exec lldp lldpcli -f json show neighbors"), "nv show interface lldp -o json"),
		eos:      "show lldp neighbors detail | json",
		read: func(r io.Reader, name string) error {
			_, err := lldp.Read(r, name)
			return err
		},
	},
	{
		name: "config_db", what: "SONiC's configuration", form: "json", sonic: true, lacking: "maps of priorities are not known: qos.yaml says which are lossless",
		commands: sudo("sonic-cfggen -d --print-data", "cat /etc/sonic/config_db.json"),
		read: func(r io.Reader, name string) error {
			_, err := sonic.Read(r, name)
			return err
		},
	},
	{
		name: "frr", what: "FRR's configuration", form: "text", lacking: "AS numbers, which failures and pins need, are not known",
		commands: sudo("vtysh -c 'show running-config'", "cat /etc/frr/frr.conf"),
		eos:      "show running-config section bgp",
		read: func(r io.Reader, name string) error {
			_, err := frr.ReadAS(r, name, "")
			return err
		},
	},
	{
		name: "pfc", what: "counters of pauses", form: "table", sonic: true, lacking: "weft watch does not see pauses",
		commands: sudo("show pfc counters"),
		read: func(r io.Reader, name string) error {
			_, err := pauses.Read(r, name)
			return err
		},
	},
	{
		name: "pfcwd", what: "the watchdog's counters", form: "table", sonic: true, lacking: "weft watch does not see what watchdogs drop",
		commands: sudo("show pfcwd stats"),
		read: func(r io.Reader, name string) error {
			_, err := pauses.ReadWatchdog(r, name)
			return err
		},
	},
	{
		name: "neigh", what: "neighbors by ARP", form: "json", lacking: "adapters behind it are not known: weft route --pin needs --nic-list",
		commands: []string{"ip -j neigh show"},
		read: func(r io.Reader, name string) error {
			_, err := frr.ReadNeighbors(r, name)
			return err
		},
	},
}

// fileName is what a file is called in the folder of its device.
func (f *file) fileName() string {
	switch f.form {
	case "json":
		return f.name + ".json"
	case "table":
		return f.name + ".txt"
	}
	return f.name + ".conf"
}

func readRoutes(r io.Reader, name string) error {
	_, err := frr.ReadRoutes(r, name, "default", map[string]bool{})
	return err
}

// inVRF is a command with the name of a VRF in it. FRR's commands are about the default VRF if none is named, and old versions' only so.
func inVRF(command, vrf string) string {
	if vrf == "default" && !strings.Contains(command, "nv ") {
		command = strings.ReplaceAll(command, " vrf VRF", "")
	}
	return strings.ReplaceAll(command, "VRF", vrf)
}

// secret is what configurations have behind these words, which nobody needs to judge a network.
var secret = regexp.MustCompile(`(?m)^(\s*(?:neighbor \S+ password|password|enable password|(?:ip |ipv6 )?ospf (?:authentication-key|message-digest-key \d+ md5)|authentication-key|key-string|key|username \S+ (?:secret|password)).*?)\s+\S+[ \t]*$`)

// kept is what a command printed without passwords and keys.
func (f *file) kept(text []byte) []byte {
	if f.form == "text" {
		return secret.ReplaceAll(text, []byte("$1 removed-by-weft"))
	}
	return text
}

// checked is the error of reading what a command printed, nil if it can be read.
func (f *file) checked(text []byte) error {
	return f.read(bytes.NewReader(text), f.fileName())
}

// script asks a device for everything in one session: what is printed, and by which command, between lines that begin
// with a mark that no output has. It writes nothing on the device, and a file that is cut off lacks its last line. Commands end
// by themselves after a while where the device has timeout: ssh does not end them with the session.
func script(mark, vrf string, most time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, `LC_ALL=C; export LC_ALL; PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
m=%s
limit="timeout %d"
$limit true 2>/dev/null || limit=
exec 3>&1
say() { printf '\n%%s %%s\n' "$m" "$*"; }
ask() { # file, form, command; what it says of errors goes between the lines
	[ "$got" = "$1" ] && return
	say try "$1 $3"
	out=$($limit sh -c "$3" </dev/null 2>&3); status=$?
	case $2:$out in json:\{*|json:\[*|text:?*) ;; *) [ "$status" = 0 ] && status=form ;; esac
	if [ "$status" = 0 ]; then say file "$1"; printf '%%s\n' "$out"; say end "$1"; got=$1
	else say no "$1 $status"; printf '%%.300s\n' "$out"; fi
}
say version
cat /etc/sonic/sonic_version.yml /etc/os-release /etc/lsb-release 2>/dev/null
$limit vtysh -c 'show version' 2>/dev/null || $limit sudo -n vtysh -c 'show version' 2>/dev/null
say end version
`, mark, max(1, int(most/time.Second)))
	for i := range files {
		for _, c := range files[i].commands {
			fmt.Fprintf(&b, "ask %s %s %s\n", files[i].name, files[i].form, words.ShellQuoted(inVRF(c, vrf)))
		}
	}
	b.WriteString("say done\n")
	return b.String()
}
