package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/result"
)

// prove has weft-proof judge the certificate; nothing is asked where there is a credit loop.
func (j *verifyJob) prove(ctx context.Context) error {
	if j.o.proofChecker == "" || j.verdict.Certificate == nil {
		return nil
	}
	switch {
	case j.Tables.Groups != nil:
		return exit.Usage("--proof-checker: weft-proof knows no tables with groups of ports; without the flag weft judges them")
	case j.Tables.Multicast != nil:
		return exit.Usage("--proof-checker: weft-proof knows no multicast; without --multicast the proof is of unicast alone")
	case len(j.ByLane) > 0:
		return exit.Usage("--proof-checker: weft-proof knows no switches that look up lanes by lanes (--by-lane)")
	}
	path, err := exec.LookPath(j.o.proofChecker)
	if err != nil {
		return exit.Usage("--proof-checker: %w; make weft-proof builds it from weft's sources", err)
	}
	dir, err := os.MkdirTemp("", "weft-proof")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := j.writeForProof(dir); err != nil {
		return err
	}
	j.proof, err = askProof(ctx, path, dir)
	return err
}

// writeForProof writes the network, the tables and the certificate as weft-proof reads them.
func (j *verifyJob) writeForProof(dir string) error {
	t := j.Tables
	folder := &files.Folder{Tables: t, Certificate: j.verdict.Certificate, Compact: true}
	all := append(folder.Files(), files.File{Name: "fabric.ibnetdiscover", Write: func(w io.Writer) error { return ibnet.Write(w, t.Fabric) }})
	for _, f := range all {
		file, err := os.Create(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Write(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// askProof runs weft-proof. Its exit codes 0 and 1 are verdicts; all else is a failure.
func askProof(ctx context.Context, path, dir string) (*result.Proof, error) {
	var out, told bytes.Buffer
	c := exec.CommandContext(ctx, path, "--json", dir)
	c.Stdout, c.Stderr = &out, &told
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 1) {
		return nil, exit.Internal("%s: %w: %s", path, err, bytes.TrimSpace(told.Bytes()))
	}
	var answer struct {
		Schema   string
		Holds    bool
		Delivers *bool
		Why      string
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.Schema != "weft/proof/1" {
		return nil, exit.Internal("%s gave no answer of weft-proof", path)
	}
	return &result.Proof{Checker: path, Holds: answer.Holds, Delivers: answer.Delivers, Why: answer.Why}, nil
}
