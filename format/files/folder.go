package files

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/format/far"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/routing"
)

// File is a file to be written.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Folder is tables as a folder of files.
type Folder struct {
	*routing.Tables
	Certificate *deadlock.Certificate // nil: there is none
	Union       *deadlock.Certificate // where these are the tables of a step of a plan: of all its mixtures; nil: there is none
	Compact     bool                  // service levels by switch, however few pairs there are

	// Underway says that they are those of a step, so that entries may yet lead into a cable
	// that is gone. The network of the step is with them: weft-proof --step takes it from there.
	Underway bool
}

// maxFullPSL is how many pairs are written one by one, as ibdmchk wants them;
// larger networks get the compact form.
const maxFullPSL = 4_000_000

// Files is the files of the folder, to be written by the caller: those for which there is something to write.
func (d *Folder) Files() []File {
	t, f := d.Tables, d.Tables.Fabric
	form := psl.Full
	if nodes := int64(len(f.Nodes())); d.Compact || nodes*nodes > maxFullPSL {
		form = psl.Compact
	}
	files := []File{
		{tablefiles.ForwardingFile, func(w io.Writer) error { return writeForwarding(w, t) }},
		{tablefiles.SL2VLFile, func(w io.Writer) error { return slvl.Write(w, f, t.Lanes.SL2VL, slvl.Dump) }},
		{tablefiles.PSLFile, func(w io.Writer) error { return psl.Write(w, t, form) }},
	}
	if t.Groups != nil {
		files = append(files, File{tablefiles.GroupsFile, func(w io.Writer) error { return far.Write(w, t) }})
	}
	if t.Multicast != nil {
		files = append(files, File{tablefiles.MulticastFile, func(w io.Writer) error { return mcfdbs.Write(w, f, t.Multicast) }})
	}
	if d.Certificate != nil {
		files = append(files, File{tablefiles.CertificateFile, func(w io.Writer) error { return certificate.Write(w, f, d.Certificate) }})
	}
	if d.Union != nil {
		files = append(files, File{tablefiles.UnionCertificateFile, func(w io.Writer) error { return certificate.Write(w, f, d.Union) }})
	}
	if d.Underway {
		files = append(files, File{tablefiles.NetworkFile, func(w io.Writer) error { return ibnet.Write(w, f) }})
	}
	return files
}

// writeForwarding writes the forwarding tables, and before them which file has their groups, if they have some.
func writeForwarding(w io.Writer, t *routing.Tables) error {
	if t.Groups != nil {
		if _, err := fmt.Fprintln(w, tablefiles.GroupsMark+tablefiles.GroupsFile); err != nil {
			return err
		}
	}
	return lft.Write(w, t.Fabric, t.Forwarding, lft.PortGUIDs)
}

// ReadBack reads the files as they were written, by the names of Files, and returns an error unless they are the same
// tables and the certificate holds for them. Whoever writes a folder calls it before the folder counts.
func (d *Folder) ReadBack(ctx context.Context, open func(name string) (io.ReadCloser, error)) error {
	f := d.Tables.Fabric
	read := &routing.Tables{Fabric: f}
	var maps *routing.SL2VL
	var proof *deadlock.Certificate
	steps := []struct {
		name   string
		wanted bool
		read   func(r io.Reader, name string) error
	}{
		{tablefiles.ForwardingFile, true, func(r io.Reader, name string) (err error) {
			read.Forwarding, err = ReadForwardingBack(r, name, d.Tables, d.Underway)
			return err
		}},
		{tablefiles.SL2VLFile, true, func(r io.Reader, name string) (err error) { maps, err = slvl.Read(r, name, f); return err }},
		{tablefiles.PSLFile, true, func(r io.Reader, name string) (err error) {
			read.Lanes, err = psl.Read(r, name, f, maps, nil)
			return err
		}},
		{tablefiles.GroupsFile, d.Tables.Groups != nil, func(r io.Reader, name string) (err error) {
			read.Groups, err = far.Read(r, name, f, read.Forwarding)
			return err
		}},
		{tablefiles.MulticastFile, d.Tables.Multicast != nil, func(r io.Reader, name string) (err error) {
			read.Multicast, err = mcfdbs.Read(r, name, f, d.Tables.Multicast.SLs)
			return err
		}},
		{tablefiles.CertificateFile, d.Certificate != nil, func(r io.Reader, name string) (err error) { proof, err = certificate.Read(r, name, f); return err }},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		r, err := open(s.name)
		if err == nil {
			err = s.read(r, s.name)
			r.Close()
		}
		if err != nil {
			return err
		}
	}
	if err := sameSLs(read.Lanes, d.Tables); err != nil || proof == nil {
		return err
	}
	_, err := deadlock.CheckCertificate(ctx, read, proof, nil)
	return err
}

// ReadForwardingBack reads forwarding tables that were written, and returns an error unless they are
// those of some tables. Of a step that is underway, entries may lead into a cable that is gone.
func ReadForwardingBack(r io.Reader, name string, t *routing.Tables, underway bool) (*routing.Forwarding, error) {
	dump, err := lft.Read(r, name, t.Fabric, lft.Join{Lenient: underway})
	if err != nil {
		return nil, err
	}
	for lid := range t.Fabric.LIDs() {
		if !bytes.Equal(dump.Forwarding.Row(lid), t.Forwarding.Row(lid)) {
			return nil, fmt.Errorf("%s: the ports for LID %d differ", name, lid)
		}
	}
	return dump.Forwarding, nil
}

// sameSLs is an error unless service levels that were read are those of tables, for all endpoints except switches.
func sameSLs(read *routing.Lanes, t *routing.Tables) error {
	f := t.Fabric
	for lid := range f.LIDs() {
		for e := range f.Endpoints() {
			e := fabric.EndpointID(e)
			if ep := f.Endpoint(e); ep.Switch != fabric.None && ep.Class != fabric.SwitchPort && read.SL(e, lid) != t.Lanes.SL(e, lid) {
				return fmt.Errorf("%s: the service level from %s to LID %d differs", tablefiles.PSLFile, f.Label(ep.Node), lid)
			}
		}
	}
	return nil
}
