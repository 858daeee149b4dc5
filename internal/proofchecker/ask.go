// Package proofchecker asks weft-proof, the checker that is extracted from the proofs, about tables
// and their certificate (docs/proof.md).
package proofchecker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/child"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/routing"
)

// A Question is whether tables are proven by their certificate; with Before, whether every mixture of
// those and of these is.
type Question struct {
	Tables      *routing.Tables
	Certificate *deadlock.Certificate
	Before      *routing.Tables // nil: these alone
}

// An Answer is what weft-proof says.
type Answer struct {
	Holds    bool
	Delivers *bool  // all packets arrive; nil: not asked, since it does not hold or is about mixtures
	Why      string // empty: nothing is wrong
}

// Unknown says what the tables of a question have that weft-proof knows nothing of; empty: nothing.
func (q *Question) Unknown() string {
	for _, t := range []*routing.Tables{q.Tables, q.Before} {
		switch {
		case t == nil:
		case t.Groups != nil && t.Groups.Tables() > 1:
			return "private forwarding tables"
		case t.Groups != nil && !everyLevelChooses(t):
			return "service levels that must not choose from groups of ports"
		case t.Lanes.SL2VL.AnyByLane():
			return "switches that look up lanes by lanes"
		}
	}
	return ""
}

// everyLevelChooses reports whether packets of all service levels choose from groups at every switch.
func everyLevelChooses(t *routing.Tables) bool {
	for s := range fabric.NodeID(t.Fabric.Switches()) {
		if t.Groups.Levels(s) != 1<<routing.SLs-1 {
			return false
		}
	}
	return true
}

// Ask writes the tables and their certificate into a folder of its own, runs the program about it, and removes it. Where
// the tables have a multicast tree, the question is about unicast alone.
func Ask(ctx context.Context, program string, q Question) (*Answer, error) {
	dir, err := os.MkdirTemp("", "weft-proof")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	arguments := []string{"--json"}
	folder := &files.Folder{Tables: q.Tables, Certificate: q.Certificate, Compact: true}
	now := filepath.Join(dir, "tables")
	if q.Before != nil {
		before := filepath.Join(dir, "before")
		if err := write(ctx, before, &files.Folder{Tables: q.Before, Compact: true}); err != nil {
			return nil, err
		}
		folder.Certificate, folder.Union = nil, q.Certificate
		arguments = append(arguments, "--step", before)
	}
	if err := write(ctx, now, folder); err != nil {
		return nil, err
	}
	about := subject{
		Contract: fmt.Sprint(q.Certificate.Contract), Endpoints: q.Certificate.Scope.String(),
		Switches: q.Tables.Fabric.Switches(), Step: q.Before != nil,
	}
	return run(ctx, program, about, append(arguments, now)...)
}

// AskEthernet runs the program about a lossless Ethernet network and its certificate.
func AskEthernet(ctx context.Context, program string, n *ethernet.Network, c *judge.Certificate) (*Answer, error) {
	dir, err := os.MkdirTemp("", "weft-proof")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeFiles(ctx, dir, EthernetFiles(n, c)); err != nil {
		return nil, err
	}
	about := subject{Network: "ethernet", Endpoints: c.Scope.String(), Devices: len(n.Names), Cables: n.Cables(), Prefixes: n.Prefixes()}
	return run(ctx, program, about, "--json", dir)
}

// EthernetFiles is the folder that weft-proof reads of a lossless Ethernet network.
func EthernetFiles(n *ethernet.Network, c *judge.Certificate) []files.File {
	return []files.File{
		{Name: tablefiles.EthernetTablesFile, Write: func(w io.Writer) error { return WriteTables(w, n) }},
		{Name: tablefiles.CertificateFile, Write: func(w io.Writer) error { return judge.WriteCertificate(w, n, c) }},
	}
}

// write writes the network and the tables as weft-proof reads them.
func write(ctx context.Context, dir string, folder *files.Folder) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	network := files.File{Name: "fabric.ibnetdiscover", Write: func(w io.Writer) error { return ibnet.Write(w, folder.Fabric) }}
	return writeFiles(ctx, dir, append(folder.Files(), network))
}

// writeFiles writes files into a folder that is there, until the context ends.
func writeFiles(ctx context.Context, dir string, list []files.File) error {
	for _, f := range list {
		file, err := os.Create(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Write(unlessEnded{ctx: ctx, Writer: file}), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// unlessEnded is a writer that stops when the context ends.
type unlessEnded struct {
	ctx context.Context
	io.Writer
}

func (w unlessEnded) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// schema is that of answers.
const schema = "weft/proof/1"

// NoAnswer is what a program gives that is not the weft-proof of this version of weft.
type NoAnswer struct{ program, did string }

func (e *NoAnswer) Error() string {
	return fmt.Sprintf("%s is not the weft-proof of this version of weft: it %s", e.program, e.did)
}

// mostPrinted is how much of what it prints is read: an answer has a few hundred bytes, and a reason.
const mostPrinted = 1 << 20

// begun is the beginning of what a program printed, in quotes.
func begun(printed []byte) string {
	const most = 80
	line, _, _ := bytes.Cut(bytes.TrimSpace(printed), []byte("\n"))
	if len(line) > most {
		return strconv.Quote(string(line[:most]) + "…")
	}
	return strconv.Quote(string(line))
}

// exitCodes are those of weft-proof, except that of a mistake in usage: a program that knows other flags is another one.
var exitCodes = []int{0, 1, 3, 4}

// subject is what an answer says that it is about.
type subject struct {
	Network, Contract, Endpoints        string
	Switches, Devices, Cables, Prefixes int
	Step                                bool
}

// run runs weft-proof and reads its answer. Its exit codes 0 and 1 are verdicts, if what it printed is about the subject
// asked for and says the same; all else is a failure.
func run(ctx context.Context, program string, asked subject, arguments ...string) (*Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, told := child.Head{Most: mostPrinted, Full: cancel}, child.Head{Most: mostPrinted}
	c := child.Command(ctx, program, arguments...)
	c.Stdout, c.Stderr = &out, &told
	err := c.Run()
	var ended *exec.ExitError
	errors.As(err, &ended)
	switch {
	case out.Over:
		return nil, &NoAnswer{program, fmt.Sprintf("printed more than %d MiB", mostPrinted>>20)}
	case c.Process == nil && ctx.Err() == nil:
		return nil, &NoAnswer{program, fmt.Sprintf("cannot be run: %v", err)}
	case ended != nil && ended.Exited() && !slices.Contains(exitCodes, ended.ExitCode()):
		return nil, &NoAnswer{program, fmt.Sprintf("ended with exit code %d, and said %s", ended.ExitCode(), begun(told.Bytes()))}
	case err != nil && (ended == nil || ended.ExitCode() != 1):
		return nil, fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(told.Bytes()))
	}
	var answer struct {
		Schema   string
		Holds    *bool
		Delivers *bool
		Why      string
		subject
	}
	switch e := json.Unmarshal(out.Bytes(), &answer); {
	case len(bytes.TrimSpace(out.Bytes())) == 0:
		return nil, &NoAnswer{program, "printed nothing"}
	case answer.Schema != "" && answer.Schema != schema:
		return nil, &NoAnswer{program, fmt.Sprintf("answers in the schema %q, and %q is the one that is read", answer.Schema, schema)}
	case e != nil || answer.Schema == "" || answer.Holds == nil:
		return nil, &NoAnswer{program, fmt.Sprintf("printed %s, which is no answer", begun(out.Bytes()))}
	}
	if answer.subject != asked {
		return nil, fmt.Errorf("%s gave an answer to another question: %+v in place of %+v", program, answer.subject, asked)
	}
	if *answer.Holds && (answer.Delivers == nil) != asked.Step {
		return nil, &NoAnswer{program, "does not say whether packets arrive, or does of a step, of which that is not asked"}
	}
	if finding := !*answer.Holds || answer.Delivers != nil && !*answer.Delivers; finding != (err != nil) {
		return nil, fmt.Errorf("%s gave an answer of weft-proof that its exit code contradicts", program)
	}
	return &Answer{Holds: *answer.Holds, Delivers: answer.Delivers, Why: answer.Why}, nil
}
