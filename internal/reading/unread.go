package reading

import (
	"bytes"
	"regexp"
)

// unread is the texts that operators have at hand, that weft is given and that do not say what
// it needs: what each of them is, by lines that only it has, and what to give in its place.
// Lines of files that weft reads come first in Sniff; none of these may fit one.
var unread = [...]struct {
	name, give string
	line       *regexp.Regexp
}{
	{"ibnetdiscover output with something before its lines, as diff, grep, mail programs and time stamps put it", "it as ibnetdiscover prints it, or of ibnetdiscover --diff the whole dump", regexp.MustCompile(`^.*[^A-Za-z"](Switch|Ca|Rt)\s+\d+ "[SHR]-[0-9a-f]{16}"`)},
	{"a list of nodes (ibswitches, ibhosts, ibnodes)", discover, regexp.MustCompile(`^(Switch|Ca|Router|Rt)\s+: 0x[0-9a-f]+ ports \d`)},
	{"ibstat output, of one host", discover, regexp.MustCompile(`^CA '[^']+'\s*$`)},
	{"ibstatus output, of one host", discover, regexp.MustCompile(`^Infiniband device '[^']+' port \d+ status:`)},
	{"ibv_devinfo output, of one host", discover, regexp.MustCompile(`^hca_id:\s`)},
	{"saquery output", discover, regexp.MustCompile(`^[A-Za-z0-9]+ ?Record dump:`)},
	{"smpquery output, of one node or port", discover, regexp.MustCompile(`^# (Node|Port|Switch|Cable|GUID|PKey table|SL2VL table|VL arbitration table)( ext)?( info)?(:| table:|s?:).*([Ll]id|DR path) `)},
	{"a path that ibtracert printed", discover, regexp.MustCompile(`^From (ca|switch|router) \{?[0-9a-fx]+\}? portnum `)},
	{"ibqueryerrors output", "it to weft compare FABRIC --measured as perfquery or ibdiagnet have counters, and as FABRIC what ibnetdiscover prints", regexp.MustCompile(`^Errors for (0x[0-9a-f]+ )?"`)},
	{"multicast tables (dump_fts -M, ibroute -M, opensm.mcfdbs)", "it to weft verify --multicast, as FABRIC what ibnetdiscover prints, and as --tables what dump_fts prints", regexp.MustCompile(`^(Multicast mlids \[|(MLID|LID)\s*: Out Port\(s\))`)},
	{"perfquery output, counters of ports", "it as weft compare FABRIC --measured, and as FABRIC what ibnetdiscover prints", regexp.MustCompile(`^# (Port (extended )?counters: |(Sw)?Port[\w -]*: Lid \d)`)},
	{"an ibdiagnet2.cables, what modules and cables say of themselves", folderOf, regexp.MustCompile(`^Port=\d+ Lid=\S+ GUID=\S+ Port Name=`)},
	{"an ibdiagnet2.pm, counters of ports", "it as weft compare FABRIC --measured, and as FABRIC the folder that it is in", regexp.MustCompile(`^Port=\d+ Lid=`)},
	{"an ibdiagnet2.net_dump", folderOf, regexp.MustCompile(`^\s*#\s*:\s*IB#\s*:`)},
	{"an ibdiagnet2.net_dump_ext, error rates of ports", "it as weft compare FABRIC --measured, and as FABRIC the folder that it is in, or ibdiagnet2.db_csv there", regexp.MustCompile(`^\s*Ty\s*:\s*#\s*:`)},
	{"the log of ibdiagnet", "the folder that it wrote (ibdiagnet -o FOLDER), or ibdiagnet2.db_csv in it", regexp.MustCompile(`^(-[IWE]- |Running (version|command|timestamp)\s*: )`)},
	{"OpenSM's log", "the opensm-subnet.lst beside it (opensm -D 0x43 writes it), or what ibnetdiscover prints", regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (\d{6} )?\[[0-9A-F]+\] 0x[0-9a-f]{2} -> `)},
	{"an OpenSM configuration", "it to weft deploy check --conf; as FABRIC, what ibnetdiscover prints: ibnetdiscover > fabric.ibnetdiscover", regexp.MustCompile(`^(# DEVICE ATTRIBUTES OPTIONS|subnet_prefix 0x|m_key_lease_period |routing_engine |sweep_interval |max_wire_smps )`)},
	{"OpenSM's guid2lid", "the opensm-subnet.lst of that OpenSM, or what ibnetdiscover prints", regexp.MustCompile(`^0x[0-9a-f]{16} 0x[0-9a-f]{4} 0x[0-9a-f]{4}\s*$`)},
	{"what ibsim's command Dump prints", "the net file that ibsim was given, or what ibnetdiscover prints", regexp.MustCompile(`^# Net status - `)},
	{"a system definition of ibutils (.ibnl)", "the .topo file that names this system; definitions are found beside it", regexp.MustCompile(`^\s*((TOP)?SYSTEM\s+\S|NODE\s+(SW|CA|HCA)\s+\d+\s|SUBSYSTEM\s+\S+\s+\S)`)},
	{"a tree of switches by name (Slurm's topology.conf, sharp_cmd topology), without cables", discover + "; weft export --to slurm writes such a tree", regexp.MustCompile(`^SwitchName=`)},
	{"a report about an Omni-Path fabric", "its links as CSV with the columns StartDevice, StartPort, EndDevice and EndPort (opaextractsellinks has them)", regexp.MustCompile(`^(\d+ Links in Fabric:|Fabric \d+:\d+ Information:|(Node Type|Link) (Brief )?Summary|Number of HFIs: \d)|^(<->|\d+g)\s+0x[0-9a-f]{16}\s+\d+\s+(FI|SW)\s`)},
	{"sharp_cmd or SHARP's own output", discover, regexp.MustCompile(`^(TreeID:\d|SHARP(TM|®)? |sharp_(cmd|am|hello)\b|\S*\[[^]]*\]\[\d+\] (SD|GENERAL|AM|SMX) )`)},
	{"text of show commands of a switch", shown, regexp.MustCompile(`(?i)^\S+( \[[^]]*\])?\s*(\([^)]*\)\s*)?[>#]\s*(no )?(show|sh|nv show) \w|^(IB|Eth|Ethernet|GigabitEthernet|TenGigE\w*|swp)\d*(/\d+)*(\.\d+)? (state:|is (administratively )?(up|down))|^Codes: K - kernel|^Capability codes:|^## (Generated|Running database)|^! ?(Command: show|device: )|^Cisco (Nexus|IOS)|^Building configuration|^Legend:\s*$|^Local Int(f|erface)\s|^(Port|Interface)\s+(Name|Status|Admin)\b`)},
	{"a page of the web, perhaps a login", "the file itself, as text", regexp.MustCompile(`(?i)^\s*<(!doctype )?html`)},
	{"a JSON list that is no list of UFM's links", links, regexp.MustCompile(`^\s*\[\s*([{\]].*)?$`)},
	{"YAML", "what ibnetdiscover prints; a laboratory of Containerlab has its nodes and links below topology:", regexp.MustCompile(`^(---|topology:|name: \S+)\s*$`)},
}

// unreadPacked is the forms of packed files that weft does not unpack: the bytes that each begins with, and who packs so.
var unreadPacked = [...]struct{ magic, by string }{
	{"\x04\x22\x4d\x18", "lz4"},
	{"\x02\x21\x4c\x18", "lz4"},
	{"7z\xbc\xaf\x27\x1c", "7-Zip"},
	{"Rar!\x1a\x07", "RAR"},
	{"\x1f\x9d", "compress"},
	{"LZIP", "lzip"},
	{"\x89LZO\x00", "lzop"},
	{"\x5d\x00\x00", "lzma"},
}

// firstPacked is the Kind of the first of these; they follow the texts.
const firstPacked = firstUnread + Kind(len(unread))

const (
	discover = "what ibnetdiscover prints: ibnetdiscover > fabric.ibnetdiscover"
	folderOf = "the folder that it is in, or ibdiagnet2.db_csv there"
	shown    = "what ibnetdiscover prints (ibnetdiscover > fabric.ibnetdiscover); of Ethernet, a folder with show ip route json and show interface json of every device, to weft verify"
	links    = "what UFM answers to GET /ufmRest/resources/links"
	unpack   = "what is in it: unpack it first (a folder of ibdiagnet2 or OpenSM is a FABRIC as it is; gzip, zstd, xz and bzip2 are unpacked here)"
	plainly  = `it without them, as the program prints it into a file, or: sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' FILE`
	workbook = "the sheet with the cables, saved as CSV with the columns StartDevice, StartPort, EndDevice and EndPort; of another archive what is in it"
)

// sniffUnread recognises a line of a text that weft does not read.
func sniffUnread(line []byte) Kind {
	line = bytes.TrimSuffix(line, []byte("\r"))
	for i := range unread {
		if unread[i].line.Match(line) {
			return firstUnread + Kind(i)
		}
	}
	return Unknown
}

// Instead says what to give in place of a text that weft does not read; empty if nobody knows.
func (k Kind) Instead() string {
	switch {
	case k == Workbook:
		return workbook
	case k == tarArchive, k >= firstPacked:
		return unpack
	case k == escapedText:
		return plainly
	case k == ofIbdiagnet:
		return folderOf
	case k >= firstUnread:
		return unread[k-firstUnread].give
	}
	return ""
}
