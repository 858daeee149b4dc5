// Package tablefiles names the files of a folder of tables.
package tablefiles

// The files of a folder of tables.
const (
	NetworkFile          = "fabric.ibnetdiscover" // the network that the tables are for
	ForwardingFile       = "lfts.dump"
	SL2VLFile            = "sl2vl.dump"
	PSLFile              = "paths.psl"
	GroupsFile           = "groups.far"
	MulticastFile        = "multicast.mcfdbs"
	CertificateFile      = "certificate"
	UnionCertificateFile = "transition.certificate" // of a step: of every mixture of its tables and those before
	EthernetTablesFile   = "ethernet.tables"        // of a lossless Ethernet network
)

// GroupsMark begins the line of forwarding tables that names the file of groups of ports that belongs to them: without
// that file switches would be taken to choose nothing. OpenSM passes over lines that begin with #.
const GroupsMark = "# groups of ports: "
