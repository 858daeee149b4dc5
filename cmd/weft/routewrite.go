package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/weft-fabric/weft/cmd/weft/internal/console"
	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/output"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/routing"
)

// maxFullPSL is how many pairs are written one by one, as ibdmchk wants them;
// larger networks get the compact form.
const maxFullPSL = 4_000_000

// write writes the output folder, reads the files back, checks them, and only
// then lets the folder appear. It says whether there is one.
func (j *routeJob) write(ctx context.Context, o *routeFlags) (bool, error) {
	if o.out == "" || (!j.verdict.Free() && !o.unproven) {
		return false, nil
	}
	s := j.Stage("write", &j.spent.Write)
	defer s.Done()
	d, err := output.NewFolder(o.out, o.force)
	if err != nil {
		return false, err
	}
	defer d.Discard()
	if err := j.fill(ctx, d, s.Done); err != nil {
		return false, err
	}
	return true, d.Commit()
}

// fill writes the files of an output folder, and reads them back; written says that
// all but the summary are written.
func (j *routeJob) fill(ctx context.Context, d *output.Folder, written func()) error {
	t := j.tables
	form := psl.Full
	if nodes := int64(len(t.Fabric.Nodes())); nodes*nodes > maxFullPSL {
		form = psl.Compact
	}
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{output.LFTs, func(w io.Writer) error { return lft.Write(w, t.Fabric, t.Forwarding, lft.PortGUIDs) }},
		{output.SL2VL, func(w io.Writer) error { return slvl.Write(w, t.Fabric, t.Lanes.SL2VL, slvl.Dump) }},
		{output.PSL, func(w io.Writer) error { return psl.Write(w, t, form) }},
	}
	if j.verdict.Free() {
		files = append(files, struct {
			name  string
			write func(io.Writer) error
		}{output.Certificate, func(w io.Writer) error { return certificate.Write(w, t.Fabric, j.verdict.Certificate) }})
	}
	for _, f := range files {
		if err := d.Write(ctx, f.name, f.write); err != nil {
			return err
		}
	}
	if err := j.readBack(ctx, d); err != nil {
		return err
	}
	written() // the summary says how long writing took
	summary := j.summary()
	summary.Install = nil // it says where the folder is, which is not to change its files
	return d.Write(ctx, output.Summary, func(w io.Writer) error { return (&app{Console: &console.Console{Stdout: w}}).printJSON(summary) })
}

// readBack reads what was written and compares it with what was meant.
func (j *routeJob) readBack(ctx context.Context, d *output.Folder) error {
	f := j.fabric
	dump, err := j.readLFTsBack(d.At(output.LFTs))
	if err != nil {
		return err
	}
	m, err := console.ReadFile(j.Console, d.At(output.SL2VL), func(r io.Reader, name string) (*routing.SL2VL, error) {
		return slvl.Read(r, name, f)
	})
	if err != nil {
		return notAsWritten(err)
	}
	lanes, err := console.ReadFile(j.Console, d.At(output.PSL), func(r io.Reader, name string) (*routing.Lanes, error) {
		return psl.Read(r, name, f, m, nil)
	})
	if err != nil {
		return notAsWritten(err)
	}
	for lid := range f.LIDs() {
		for e := range f.Endpoints() {
			e := fabric.EndpointID(e)
			if ep := f.Endpoint(e); ep.Switch != fabric.None && ep.Class != fabric.SwitchPort && lanes.SL(e, lid) != j.tables.Lanes.SL(e, lid) {
				return notAsWritten(fmt.Errorf("%s: the service level from %s to LID %d differs", output.PSL, f.Label(ep.Node), lid))
			}
		}
	}
	if !j.verdict.Free() {
		return nil
	}
	c, err := console.ReadFile(j.Console, d.At(output.Certificate), func(r io.Reader, name string) (*deadlock.Certificate, error) {
		return certificate.Read(r, name, f)
	})
	if err != nil {
		return notAsWritten(err)
	}
	read := &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}
	if _, err := deadlock.CheckCertificate(ctx, read, c, nil); err != nil {
		return notAsWritten(err)
	}
	return nil
}

// readLFTsBack reads forwarding tables and compares them with those meant.
func (j *routeJob) readLFTsBack(file string) (*lft.Dump, error) {
	dump, err := console.ReadFile(j.Console, file, func(r io.Reader, name string) (*lft.Dump, error) {
		return lft.Read(r, name, j.fabric, lft.Join{Lenient: j.underway})
	})
	if err != nil {
		return nil, notAsWritten(err)
	}
	for lid := range j.fabric.LIDs() {
		if !bytes.Equal(dump.Forwarding.Row(lid), j.tables.Forwarding.Row(lid)) {
			return nil, notAsWritten(fmt.Errorf("%s: the ports for LID %d differ", filepath.Base(file), lid))
		}
	}
	return dump, nil
}

// notAsWritten is the error of files that do not read back as they were meant.
func notAsWritten(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.Internal("the files do not read back as written, nothing was kept: %w", err)
}
